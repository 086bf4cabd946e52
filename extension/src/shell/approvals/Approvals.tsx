import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../../components/Button";
import { Loading } from "../../components/Loading";
import { Mark } from "../../components/Mark";
import { Refusal } from "../../components/Refusal";
import { Screen } from "../../components/Screen";
import { t } from "../../i18n/t";
import { formatTime } from "../../i18n/time";
import { useConnection, useNetworkData, useOrders } from "../../state/context";
import { useStore } from "../../state/store";
import { failureOf, type Failure } from "../../wire/failure";
import type { Allowance, Order } from "../../wire/protocol";
import { go, type Route } from "../route";
import { amountOf } from "./amounts";
import { RevokeModal } from "./RevokeModal";
import { Spender } from "./Spender";

/** Approvals lists who may spend the account's tokens, and revokes approvals. */
export default function Approvals(_: { route: Extract<Route, { at: "approvals" }> }) {
	const { account, network, orders, allowances, more, busy, failure, read } = useAllowances();
	const [chosen, choose] = useState<Allowance | undefined>(undefined);
	const here = orders.filter(({ terms }) => terms.account === account?.address && terms.srcChainId === network?.chainId);
	const revokes = here.filter((o) => o.terms.provider === "wallet" && !o.final);
	return (
		<Screen title={t("approvals")} onBack="back">
			<p class="soft small">{t("approvals_text", account?.name ?? "", network?.name ?? "")}</p>
			{failure && <Refusal failure={failure} />}
			{failure && !busy && <Button onClick={() => void read()}>{t("order_again")}</Button>}
			<ul class="stack">
				{allowances?.map((a) => (
					<Row key={keyOf(a)} allowance={a} revoke={revokes.find((o) => revokesAllowance(o, a))} onRevoke={() => choose(a)} />
				))}
			</ul>
			{allowances?.length === 0 && !more && !busy && !failure && (
				<div class="empty">
					<Mark of="done" tone="good" />
					<p>{t("approvals_none")}</p>
					<p class="soft small">{t("approvals_none_hint")}</p>
				</div>
			)}
			{busy && (
				<p class="row soft">
					<Loading /> {t("approvals_loading")}
				</p>
			)}
			{more && !busy && <Button onClick={() => void read(more)}>{t("approvals_more")}</Button>}
			{chosen && (
				<RevokeModal
					allowance={chosen}
					onClose={() => choose(undefined)}
					onStale={() => {
						choose(undefined);
						void read();
					}}
				/>
			)}
		</Screen>
	);
}

const keyOf = (a: Allowance) => `${a.kind} ${a.token} ${a.spender}`;

/** revokesAllowance reports whether an order revokes an allowance. The target of its call (token
 * or Permit2) tells the two kinds apart. */
function revokesAllowance(order: Order, a: Allowance): boolean {
	const effect = order.steps[0]?.effect;
	const named = effect?.approves?.[0];
	return named?.spender === a.spender && named.token === a.token && (effect?.target === a.token) === (a.kind === "erc20");
}

/** useAllowances reads the account's allowances on the active network page by page, and
 * starts over when account or network change or an order ends. Only the latest read counts,
 * as an older one may be of another account. */
function useAllowances() {
	const { shell } = useConnection();
	const account = useStore(useConnection().account);
	const active = useStore(useNetworkData().active);
	const networks = useStore(useNetworkData().networks);
	const orders = useStore(useOrders().orders);
	const [shown, show] = useState<Shown>({ of: "", busy: false });
	const turn = useRef(0);
	const of = `${account?.address} ${active}`;
	const read = async (cursor?: string) => {
		if (!account) return;
		const mine = ++turn.current;
		const take = (change: (before: Shown) => Shown) => mine === turn.current && show(change);
		take((before) => ({ ...(before.of === of ? { ...before, failure: undefined } : { of }), busy: true }));
		try {
			const page = await shell.call("approvals.list", { account: account.address, chainId: active, ...(cursor ? { cursor } : {}) });
			take(({ allowances = [] }) => ({ of, busy: false, allowances: cursor ? joined(allowances, page.allowances) : page.allowances, more: page.cursor }));
		} catch (thrown) {
			take((before) => ({ ...before, busy: false, failure: failureOf(thrown) }));
		}
	};
	const ended = orders.filter((o) => o.final).length;
	useEffect(() => void read(), [of, ended]);
	const { busy, allowances, more, failure }: Shown = shown.of === of ? shown : { of, busy: true };
	return { account, network: networks.find((n) => n.chainId === active), orders, allowances, more, busy, failure, read };
}

/** Shown are the allowances loaded for one account on one network. */
interface Shown {
	of: string;
	busy: boolean;
	allowances?: readonly Allowance[];
	more?: string | undefined;
	failure?: Failure | undefined;
}

/** Pages overlap if the list changed in between. */
const joined = (before: readonly Allowance[], now: readonly Allowance[]) => [...before.filter((a) => !now.some((b) => keyOf(a) === keyOf(b))), ...now];

interface RowProps {
	allowance: Allowance;
	/** The order that is revoking it. */
	revoke: Order | undefined;
	onRevoke: () => void;
}

function Row({ allowance: a, revoke, onRevoke }: RowProps) {
	const name = a.symbol ?? t("approvals_unknown_token");
	return (
		<li class="card stack tight">
			<div class="row apart">
				<h2 class="cut">{name}</h2>
				{a.unlimited ? <strong class="tone warn">{t("approvals_unlimited")}</strong> : <span class="number">{amountOf(a, a.amount)}</span>}
			</div>
			<dl class="facts small">
				<Spender allowance={a} />
				{!a.symbol && (
					<>
						<dt class="wide">{t("approvals_token")}</dt>
						<dd class="wide">
							<code>{a.token}</code>
						</dd>
					</>
				)}
				<dt>{t("approvals_kept")}</dt>
				<dd>{t(a.kind === "permit2" ? "approvals_by_permit2" : "approvals_by_token")}</dd>
				<dt>{t("approvals_until")}</dt>
				<dd>{a.expires ? formatTime(a.expires, "whole") : t("approvals_for_ever")}</dd>
			</dl>
			{a.reserved !== "0" && <p class="note small">{t("approvals_share", amountOf(a, a.reserved))}</p>}
			{a.leftover && (
				<p class="note warn small">
					{t("approvals_leftover")}{" "}
					<button type="button" class="link" onClick={() => go({ at: "order", id: a.leftover ?? "" })}>
						{t("approvals_leftover_order")}
					</button>
				</p>
			)}
			<RevokeButton allowance={a} name={name} revoke={revoke} onRevoke={onRevoke} />
		</li>
	);
}

function RevokeButton({ allowance: a, name, revoke, onRevoke }: RowProps & { name: string }) {
	if (revoke) return <Button onClick={() => go({ at: "order", id: revoke.id })}>{t("approvals_running")}</Button>;
	const kept = a.reserved !== "0";
	return (
		<Button disabled={!a.digest || kept} onClick={onRevoke}>
			<span>
				{t(kept ? "approvals_kept_back" : a.digest ? "approvals_revoke" : "approvals_not_now")}
				<span class="hidden">{t("approvals_of", name, a.name ?? a.spender)}</span>
			</span>
		</Button>
	);
}
