import { useEffect, useState } from "preact/hooks";
import { t } from "../../i18n/t";
import { useAct } from "../../order/useAct";
import { useConnection, useNetworkData } from "../../state/context";
import { useStore } from "../../state/store";
import type { Account, Wallet } from "../../wire/protocol";
import { shortAddress } from "../../components/address";
import { announce } from "../../components/Announcer";
import { Avatar } from "../../components/Avatar";
import { Button } from "../../components/Button";
import { Refusal } from "../../components/Refusal";
import { Screen } from "../../components/Screen";
import { inTab, startSetup } from "../onboarding/setup";
import { back } from "../route";
import { searchStarted, type Search, searchOf } from "./discovery";
import { RemoveWallet } from "./RemoveWallet";
import { Rename, type Renamed } from "./Rename";
import { Icon } from "../../components/Icon";

/** Accounts lists all wallets with their accounts, to select and manage them. */
export default function Accounts() {
	const wallets = useStore(useConnection().keys)?.wallets ?? [];
	const [renaming, setRenaming] = useState<Renamed>();
	const [removing, setRemoving] = useState<Wallet>();
	return (
		<Screen title={t("accounts_title")} onBack="back">
			{wallets.map((wallet) => (
				<WalletCard key={wallet.id} wallet={wallet} onRename={setRenaming} onRemove={() => setRemoving(wallet)} />
			))}
			<section class="stack tight" aria-label={t("accounts_another")}>
				<h2>{t("accounts_another")}</h2>
				<div class="pair">
					<Button onClick={() => startSetup("create")}>{t("create_wallet")}</Button>
					<Button onClick={() => startSetup("import")}>{t("import_wallet")}</Button>
				</div>
				{!inTab() && <p class="soft small">{t("welcome_tab")}</p>}
			</section>
			{renaming && <Rename what={renaming} onClose={() => setRenaming(undefined)} />}
			{removing && <RemoveWallet wallet={removing} onClose={() => setRemoving(undefined)} />}
		</Screen>
	);
}

interface CardProps {
	wallet: Wallet;
	onRename: (what: Renamed) => void;
	onRemove: () => void;
}

/** WalletCard is one wallet. Accounts of different wallets may have the same name, so
 * buttons for an account are also labelled with its address. */
function WalletCard({ wallet, onRename, onRemove }: CardProps) {
	const { shell } = useConnection();
	const add = useAct(async (request) => {
		const { account } = await shell.call("keys.add", { request, wallet: wallet.id });
		announce(t("accounts_added", account.name));
	});
	const { search, look, failure } = useSearch(wallet.id);
	const grows = wallet.kind === "mnemonic";
	return (
		<section class="card stack" aria-label={wallet.name}>
			<div class="row">
				<h2 class="grow cut">{wallet.name}</h2>
				<span class="soft small">{t(grows ? "accounts_of_words" : "accounts_of_key")}</span>
			</div>
			<ul class="rows">
				{wallet.accounts.map((account) => (
					<AccountRow key={account.address} account={account} onRename={onRename} />
				))}
			</ul>
			<SearchView search={search} />
			{(add.failure ?? failure) && <Refusal failure={(add.failure ?? failure)!} />}
			<div class="acts">
				{grows && (
					<Button kind="plain" label={t("accounts_add_to", wallet.name)} busy={add.busy} onClick={() => void add.run()}>
						{t("accounts_add")}
					</Button>
				)}
				{grows && (
					<Button kind="plain" label={t("accounts_discover_in", wallet.name)} busy={search?.state === "running"} onClick={look}>
						{t("accounts_discover")}
					</Button>
				)}
				<Button kind="plain" label={t("accounts_rename_of", wallet.name)} onClick={() => onRename({ wallet: wallet.id, name: wallet.name })}>
					{t("accounts_rename")}
				</Button>
				<Button kind="plain" label={t("accounts_remove_of", wallet.name)} onClick={onRemove}>
					{t("accounts_remove")}
				</Button>
			</div>
		</section>
	);
}

function AccountRow({ account, onRename }: { account: Account; onRename: (what: Renamed) => void }) {
	const { choose } = useConnection();
	const chosen = useStore(useConnection().account)?.address === account.address;
	const address = shortAddress(account.address);
	return (
		<li class="row">
			<button
				type="button" class="pick grow" aria-current={chosen}
				onClick={() => {
					choose(account);
					back();
				}}
			>
				<Avatar of={account.address} size={28} />
				<span class="grow stack flat">
					<span class="cut">{account.name}</span>
					<span class="soft mono">{address}</span>
				</span>
				{chosen && <span class="chosen">{t("accounts_shown")}</span>}
			</button>
			<Button kind="icon" label={t("accounts_rename_account", account.name, address)} onClick={() => onRename({ account: account.address, name: account.name })}>
				<Icon name="edit" />
			</Button>
		</li>
	);
}

/** useSearch follows the search for used accounts of a wallet, including one that an import
 * or another window started. */
function useSearch(wallet: string) {
	const { shell } = useConnection();
	const { networks } = useNetworkData();
	const [search, setSearch] = useState<Search>();
	const act = useAct(async (request) => {
		setSearch(searchStarted);
		try {
			setSearch(searchOf(await shell.call("keys.discover", { request, wallet }), networks.get()));
		} catch (thrown) {
			setSearch(undefined);
			throw thrown;
		}
	});
	useEffect(
		() =>
			shell.on("keys.changed", ({ discovery }) => {
				if (discovery?.wallet !== wallet) return;
				const now = searchOf(discovery, networks.get());
				setSearch(now);
				if (now.state !== "running") announce(words(now));
			}),
		[wallet],
	);
	return { search, look: () => void act.run(), failure: act.failure };
}

function words(search: Search): string {
	if (search.state === "running") return search.checked ? t("discovery_running", search.checked, search.found) : t("discovery_begun");
	if (search.state === "broken") return t("discovery_broken", search.checked, search.found);
	return search.found ? t("discovery_found", search.found, search.checked) : t("discovery_none", search.checked);
}

function SearchView({ search }: { search: Search | undefined }) {
	if (!search) return null;
	return (
		<div class={`note small stack tight ${search.state === "broken" ? "warn" : ""}`}>
			<p>{words(search)}</p>
			{search.unreachable.length > 0 && <p>{t("discovery_silent", search.unreachable.join(", "))}</p>}
		</div>
	);
}
