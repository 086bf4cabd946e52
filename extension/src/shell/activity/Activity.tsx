import { useState } from "preact/hooks";
import { Button } from "../../components/Button";
import { Mark } from "../../components/Mark";
import { Refusal } from "../../components/Refusal";
import { Screen } from "../../components/Screen";
import { Switch } from "../../components/Switch";
import { t } from "../../i18n/t";
import { isToday, formatTime } from "../../i18n/time";
import { lineText, type OrderFormatter } from "../../order/line";
import { orderStatus } from "../../order/status";
import { useOrderFormatter } from "../../order/useOrderFormatter";
import { belongsTo } from "../../order/ownership";
import { useConnection, useOrders } from "../../state/context";
import { unseenOrders, useMarkSeen } from "../../state/unseen-orders";
import { useStore } from "../../state/store";
import { failureOf, type Failure } from "../../wire/failure";
import type { Order } from "../../wire/protocol";
import { go, type Route } from "../route";
import { groupOrders, type Group } from "./days";

/** Activity lists swaps and revocations, open ones first. */
export default function Activity(_: { route: Extract<Route, { at: "activity" }> }) {
	const orders = useStore(useOrders().orders);
	const account = useStore(useConnection().account);
	const accounts = useStore(useConnection().accounts);
	const unseen = useStore(unseenOrders);
	const [all, showAll] = useState(() => orders.some((o) => Object.hasOwn(unseen, o.id) && !belongsTo(o, account?.address)));
	const shown = all ? orders : orders.filter((o) => belongsTo(o, account?.address));
	const format = useOrderFormatter(shown, true);
	useMarkSeen(shown);
	return (
		<Screen title={t("activity")} aside={<Button kind="plain" onClick={() => go({ at: "approvals" })}>{t("activity_approvals")}</Button>}>
			{accounts.length > 1 && (
				<div class="small">
					<Switch on={all} onTurn={showAll}>
						{t("activity_all")}
					</Switch>
				</div>
			)}
			{shown.length === 0 && <Empty />}
			{groupOrders(shown).map((group) => {
				const name = named(group.of);
				return (
					<section key={group.of} class="stack tight" aria-label={name}>
						<h2 class="small soft">{name}</h2>
						<ul class="stack tight">
							{group.orders.map((o) => (
								<Row key={o.id} order={o} format={format} whose={all} />
							))}
						</ul>
					</section>
				);
			})}
			<More />
		</Screen>
	);
}

function named(group: Group["of"]): string {
	if (group === "open") return t("activity_open");
	if (group === "unreadable") return t("state_unreadable");
	return isToday(group) ? t("activity_today") : formatTime(group, "day");
}

function Row({ order, format, whose }: { order: Order; format: OrderFormatter; whose: boolean }) {
	const { terms } = order;
	const at = orderStatus(order);
	const across = terms.srcChainId !== terms.dstChainId;
	const known = order.state !== "unreadable";
	return (
		<li>
			<button type="button" class="card activity-row" onClick={() => go({ at: "order", id: order.id })}>
				<Mark of={at.picture} tone={at.tone} />
				<span class="activity-what">
					<span class="row apart">
						<strong>{what(order, format)}</strong>
						{known && (
							<time class="soft small" dateTime={order.created}>
								{formatTime(order.created, order.ended || isToday(order.created) ? "minute" : "date")}
							</time>
						)}
					</span>
					<span class="small">
						<span class={`tone ${at.tone}`}>{lineText(at.words)}</span>
						{known && (
							<span class="soft">
								{" "}
								· {format.provider(terms.provider)} · {format.network(terms.srcChainId)}
								{across && ` → ${format.network(terms.dstChainId)}`}
								{whose && ` · ${format.account(terms.account)}`}
							</span>
						)}
					</span>
				</span>
			</button>
		</li>
	);
}

/** what returns "pay → receive", with the amount received if it is known, else the one accepted. */
function what({ state, terms, verdict, steps, offer }: Order, format: OrderFormatter): string {
	if (state === "unreadable") return t("order_unreadable");
	if (terms.provider === "wallet") return t("activity_revoke", format.account(steps[0]?.effect.approves?.[0]?.spender ?? ""));
	const got = verdict?.state === "filled" && verdict.received ? verdict.received.amount : offer.amountOut;
	return t("activity_swap", format.amount(terms.srcChainId, terms.tokenIn, terms.amountIn), format.amount(terms.dstChainId, terms.tokenOut, got));
}

function Empty() {
	return (
		<div class="empty">
			<Mark of="wait" />
			<p>{t("activity_none")}</p>
			<p class="soft small">{t("activity_none_hint")}</p>
			<Button onClick={() => go({ at: "swap" })}>{t("activity_begin")}</Button>
		</div>
	);
}

function More() {
	const { loadMoreOrders } = useOrders();
	const more = useStore(useOrders().moreOrders);
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState<Failure | undefined>(undefined);
	if (!more) return null;
	const load = async () => {
		setBusy(true);
		setFailure(undefined);
		await loadMoreOrders().catch((thrown: unknown) => setFailure(failureOf(thrown)));
		setBusy(false);
	};
	return (
		<>
			{failure && <Refusal failure={failure} />}
			<Button busy={busy} onClick={() => void load()}>
				{t("activity_more")}
			</Button>
		</>
	);
}
