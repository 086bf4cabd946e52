import type { MessageKey } from "../i18n/keys";
import type { Entry, Order, OrderState } from "../wire/protocol";
import { closedCard, endCard } from "./ends";
import { type Line, line, type OrderFormatter } from "./line";
import { lookUp, orderStatus, type OrderStatus } from "./status";
import { settlementKind, type SettlementKind, stepLines, type StepLine, trusted } from "./steps";
import { type Card, reasonPart, conditionCard } from "./condition-cards";

/** An OrderSummary is everything that is shown about an order. */
export interface OrderSummary {
	status: OrderStatus;
	/** What is being done now; absent once it ended, and while a condition applies. */
	now?: Line;
	/** Whether the window may be closed; absent once it ended. */
	close?: Line;
	/** When the order ends: the deadline of a signed order, or the last moment to sign for
	 * one that waits for the user. */
	until?: { label: MessageKey; time: string };
	steps: StepLine[];
	/** What it is waiting for, or its end. */
	card?: Card;
	/** true, or why it cannot be cancelled; absent if there is nothing to cancel. */
	cancel?: true | Line;
	/** true, or from when the order may be closed; absent if it ends in any case. */
	stop?: true | Line;
	/** What may be replaced with a higher fee: the transaction, or the one that cancels it,
	 * which raises its own fee until it reaches the fee cap. */
	speedup?: "transaction" | "cancelling";
	leftovers: boolean;
}

/** Settling counts as slow after this many times the provider's estimate, and at least
 * slowSeconds seconds; the order is then shown as still being tracked. */
const slowFactor = 3;
const slowSeconds = 120;

/** orderSummary builds what is shown about an order. `now` is in ms since 1970; `history` is the
 * order's recorded history. */
export function orderSummary(order: Order, format: OrderFormatter, now: number, history?: readonly Entry[]): OrderSummary {
	if (order.state === "unreadable") return { status: orderStatus(order), steps: [], leftovers: false, card: damaged(order, format) };
	const shared = { status: orderStatus(order), steps: stepLines(order, format), leftovers: (order.leftovers?.length ?? 0) > 0 };
	const end = endCard(order, format) ?? closedCard(order, format);
	if (end) return { ...shared, card: end };
	const card = conditionCard(order, format) ?? tracking(order, format, now, history);
	const until = expiryOf(order);
	const cancel = cancellable(order, format);
	const speedup = speedupOf(order);
	const stop = stoppable(order, format, now);
	return {
		...shared,
		...(order.condition ? {} : { now: doing(order, format, now) }),
		...(order.ended ? {} : { close: line(asksUser(order) ? "order_close_waits" : "order_close") }),
		...(stop === undefined ? {} : { stop }),
		...(until ? { until } : {}),
		...(card ? { card } : {}),
		...(cancel === undefined ? {} : { cancel }),
		...(speedup ? { speedup } : {}),
	};
}

/** damaged returns the card of an order whose record cannot be read. */
function damaged(o: Order, format: OrderFormatter): Card {
	const { tone, picture } = orderStatus(o);
	return { title: line("order_unreadable_title"), text: [line("order_unreadable_text")], tone, picture, lines: [], links: [], ...reasonPart({ cause: o.cause, words: o.reason }, o, format) };
}

const asksUser = (o: Order) => o.condition === "waiting_unlock" || o.condition === "needs_consent";

type OpenState = Exclude<OrderState, "closed" | "filled" | "refunded" | "failed" | "expired" | "cancelled" | "unreadable">;

/** What is being done in each open state, by who settles the order. */
export const activityTexts: Record<OpenState, Record<SettlementKind, MessageKey>> = {
	accepted: { own: "order_now_accepted", signed: "order_now_accepted", deposit: "order_now_accepted", revoke: "order_now_accepted" },
	approving: { own: "order_now_approving", signed: "order_now_approving", deposit: "order_now_approving", revoke: "order_now_revoking" },
	executing: { own: "order_now_executing", signed: "order_now_executing", deposit: "order_now_executing", revoke: "order_now_revoking" },
	submitting: { own: "order_now_submitting", signed: "order_now_submitting", deposit: "order_now_submitting", revoke: "order_now_submitting" },
	settling: { own: "order_now_settling_own", signed: "order_now_settling_signed", deposit: "order_now_settling_deposit", revoke: "order_now_settling_own" },
};

function doing(o: Order, format: OrderFormatter, now: number): Line {
	const row = lookUp(activityTexts, o.state);
	const how = settlementKind(o);
	if (!row) return line("order_raw", o.state);
	if (o.speedup) return line(o.speedup === "fast" ? "order_now_speedup_fast" : "order_now_speedup_normal");
	if (o.state === "settling" && how === "signed" && passed(expiryOf(o)?.time, now)) return line("order_now_past");
	return line(row[how], trusted(o, format), format.network(o.terms.dstChainId));
}

const passed = (time: string | undefined, now: number) => time !== undefined && Date.parse(time) <= now;

/** tracking returns the card of an order that settles slowly, so that the lack of news is
 * shown as a state of its own. */
function tracking(o: Order, format: OrderFormatter, now: number, history?: readonly Entry[]): Card | undefined {
	if (o.state !== "settling") return undefined;
	const since = Date.parse(history?.find((h) => h.state === "settling")?.time ?? o.updated);
	if ((now - since) / 1000 < Math.max(slowSeconds, slowFactor * o.offer.durationSeconds)) return undefined;
	return {
		title: line("order_tracking_title"), tone: "neutral", picture: "wait", lines: [], links: [],
		text: [line("order_tracking_text"), line("order_tracking_since", format.time(new Date(since).toISOString()))],
		...reasonPart({ cause: o.cause, words: o.reason }, o, format),
	};
}

function expiryOf(o: Order): { label: MessageKey; time: string } | undefined {
	if (asksUser(o)) return { label: "order_until_label", time: o.terms.deadline };
	const last = o.steps.at(-1)?.effect;
	return last?.kind === "order" && last.deadline ? { label: "order_ends_label", time: last.deadline } : undefined;
}

/** cancellable returns true, or why a deposit that was handed over cannot be cancelled (the
 * daemon would refuse). undefined: there is nothing to cancel, as the own call is mined. */
function cancellable(o: Order, format: OrderFormatter): true | Line | undefined {
	if (o.cancel || o.ended || o.condition === "written_by_newer") return undefined;
	const out = o.state === "submitting" || o.state === "settling";
	const how = settlementKind(o);
	if (out && how === "deposit") return line("order_handed_over", trusted(o, format));
	if (o.state === "settling" && how !== "signed") return undefined;
	return true;
}

/** stoppable returns true, or from when the order may be closed. */
function stoppable({ canCloseFrom }: Order, format: OrderFormatter, now: number): true | Line | undefined {
	if (!canCloseFrom) return undefined;
	return passed(canCloseFrom, now) ? true : line("order_stop_from", format.time(canCloseFrom));
}

/** speedupOf returns what can be sped up. The cancelling transaction can while the order has a
 * reason: once it was sent there is none. */
function speedupOf(o: Order): OrderSummary["speedup"] {
	if ((o.attempts?.length ?? 0) === 0 || o.speedup) return undefined;
	if (!o.cancel && o.condition !== "cancelling") return "transaction";
	return o.reason ? "cancelling" : undefined;
}
