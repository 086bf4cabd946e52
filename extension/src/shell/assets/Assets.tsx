import { Button } from "../../components/Button";
import { Loading } from "../../components/Loading";
import { Screen } from "../../components/Screen";
import { tokenRows, type TokenRow, countUnreadable } from "../../components/token-rows";
import { TokenRowButton } from "../../components/TokenRowButton";
import { locale, t } from "../../i18n/t";
import { formatTime } from "../../i18n/time";
import { formatUSD } from "../../money/amount";
import { sumUSD } from "../../money/value";
import { useNetworkData } from "../../state/context";
import { useStore } from "../../state/store";
import type { Network } from "../../wire/protocol";
import { go } from "../route";
import { Incoming } from "./Incoming";

/** Assets lists the account's balances on the active network and their value. */
export default function Assets() {
	const chainId = useStore(useNetworkData().active);
	const balances = useStore(useNetworkData().balances);
	const prices = useStore(useNetworkData().prices);
	const network = useStore(useNetworkData().networks).find((n) => n.chainId === chainId);
	const rows = balances && tokenRows({ chainId, query: "", coin: undefined, listed: [], extra: [], balances, prices }).held;
	return (
		<Screen title={t("assets_on", network?.name ?? "")}>
			{network?.ended && <Ended network={network} />}
			{!rows && !network?.ended && (
				<p class="row soft">
					<Loading /> {t("assets_loading")}
				</p>
			)}
			{rows && <Sum rows={rows} unread={countUnreadable(balances)} />}
			{rows && (
				<ul class="card rows">
					{rows.map((row) => (
						<li key={row.token.address}>
							<TokenRowButton row={row} selected={false} onPick={() => go({ at: "token", address: row.token.address })} />
						</li>
					))}
				</ul>
			)}
			{rows && <Incoming chainId={chainId} />}
		</Screen>
	);
}

/** Ended says that the network was shut down, and reads its balances when asked. */
function Ended({ network: { name, ended } }: { network: Network }) {
	const { refreshBalances } = useNetworkData();
	return (
		<div class="note warn stack tight">
			<p>{t("network_ended_note", name, formatTime(ended!, "dated"))}</p>
			<Button kind="plain" onClick={() => void refreshBalances()}>
				{t("assets_read")}
			</Button>
		</div>
	);
}

/** Sum is the total value. It says how many tokens are left out for lack of a price or balance. */
function Sum({ rows, unread }: { rows: readonly TokenRow[]; unread: number }) {
	const priced = rows.flatMap((r) => (r.usd === undefined ? [] : [r.usd]));
	const unpriced = rows.filter((r) => r.usd === undefined && r.amount !== undefined && r.amount !== "0").length;
	return (
		<p class="sum">
			<strong class="number">{priced.length > 0 ? formatUSD(sumUSD(priced), locale()) : t("price_unavailable")}</strong>
			{priced.length > 0 && unpriced > 0 && <span class="soft small">{t("assets_unpriced", unpriced)}</span>}
			{unread > 0 && <span class="soft small">{t("assets_unread", unread)}</span>}
		</p>
	);
}
