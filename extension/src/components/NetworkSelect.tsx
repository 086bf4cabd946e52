import { useState } from "preact/hooks";
import { t } from "../i18n/t";
import { networkName } from "../state/network-name";
import { Avatar } from "./Avatar";
import { Modal } from "./Modal";
import { Named } from "./Named";
import { SearchList } from "./SearchList";
import { Icon } from "./Icon";

/** A network to choose. known: one of the wallet's own. */
interface Choice {
	chainId: number;
	name: string;
	known: boolean;
}

interface Props {
	label: string;
	/** Chain id. */
	value: number;
	networks: readonly Choice[];
	onChange: (chainId: number) => void;
}

/** matchingNetworks returns the networks that match a query by name or start of the chain id: the
 * wallet's own, and those that only the provider reaches. */
export function matchingNetworks(networks: readonly Choice[], query: string): { known: Choice[]; others: Choice[] } {
	const wanted = query.trim().toLowerCase();
	const fits = networks.filter((n) => n.name.toLowerCase().includes(wanted) || String(n.chainId).startsWith(wanted));
	return { known: fits.filter((n) => n.known), others: fits.filter((n) => !n.known) };
}

/** NetworkSelect is a button that opens a searchable list of networks. */
export function NetworkSelect({ label, value, networks, onChange }: Props) {
	const [open, setOpen] = useState(false);
	const name = networkName(value, networks);
	const pick = (chainId: number) => {
		setOpen(false);
		if (chainId !== value) onChange(chainId);
	};
	return (
		<>
			<button type="button" class="chip network-select" aria-haspopup="dialog" onClick={() => setOpen(true)}>
				<Named name={t("network_is", label, name)}>
					<Avatar of={String(value)} letter={name} size={16} />
					<span class="cut">{name}</span>
					<span>▾</span>
				</Named>
			</button>
			{open && (
				<Modal title={label} onClose={() => setOpen(false)}>
					<NetworkList value={value} networks={networks} onPick={pick} />
				</Modal>
			)}
		</>
	);
}

function NetworkList({ value, networks, onPick }: Pick<Props, "value" | "networks"> & { onPick: (chainId: number) => void }) {
	const [query, setQuery] = useState("");
	const { known, others } = matchingNetworks(networks, query);
	const count = known.length + others.length;
	return (
		<SearchList label={t("network_search")} query={query} onQuery={setQuery} status={query && t("network_found", count)}>
			<Group title={t("network_known")} networks={known} value={value} onPick={onPick} />
			<Group title={t("network_others")} networks={others} value={value} onPick={onPick} />
			{count === 0 && <p class="picker-empty soft">{t(networks.length === 0 ? "network_none" : "network_not_found")}</p>}
		</SearchList>
	);
}

function Group({ title, networks, value, onPick }: { title: string; networks: readonly Choice[]; value: number; onPick: (chainId: number) => void }) {
	if (networks.length === 0) return null;
	return (
		<section aria-label={title}>
			<h3 class="picker-title">{title}</h3>
			<ul>
				{networks.map((n) => (
					<li key={n.chainId}>
						<button type="button" data-row class="picker-row" aria-current={n.chainId === value} onClick={() => onPick(n.chainId)}>
							<Avatar of={String(n.chainId)} letter={n.name} size={28} />
							<span class="grow cut">{n.name}</span>
							{n.chainId === value && <Icon name="check" />}
						</button>
					</li>
				))}
			</ul>
		</section>
	);
}
