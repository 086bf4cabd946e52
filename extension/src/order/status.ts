import type { MessageKey } from "../i18n/keys";
import type { Condition, Order, OrderState } from "../wire/protocol";
import { type Line, line } from "./line";

/** Always shown with an icon and words, never by colour alone. */
export type Tone = "neutral" | "busy" | "good" | "warn" | "critical";
export type StatusIcon = "busy" | "wait" | "done" | "back" | "failed" | "over" | "ask" | "unsure" | "none";

/** A Standing is the state of an order in a word or two. */
export interface OrderStatus {
	words: Line;
	tone: Tone;
	picture: StatusIcon;
}

interface Row {
	words: MessageKey;
	/** The words for an order that revokes an allowance. */
	revoke?: MessageKey;
	tone: Tone;
	picture: StatusIcon;
}

/** Every state, open ones first. */
export const states: Record<OrderState, Row> = {
	accepted: { words: "order_state_accepted", tone: "busy", picture: "busy" },
	approving: { words: "order_state_approving", revoke: "order_state_revoking", tone: "busy", picture: "busy" },
	executing: { words: "order_state_executing", tone: "busy", picture: "busy" },
	submitting: { words: "order_state_submitting", tone: "busy", picture: "busy" },
	settling: { words: "order_state_settling", tone: "busy", picture: "busy" },
	filled: { words: "order_state_filled", revoke: "order_state_revoked", tone: "good", picture: "done" },
	refunded: { words: "order_state_refunded", tone: "warn", picture: "back" },
	failed: { words: "order_state_failed", tone: "critical", picture: "failed" },
	expired: { words: "order_state_expired", tone: "neutral", picture: "over" },
	cancelled: { words: "order_state_cancelled", tone: "neutral", picture: "over" },
	unreadable: { words: "order_state_unreadable", tone: "critical", picture: "unsure" },
};

/** Every condition. While one applies, it is shown instead of the state. */
export const conditions: Record<Condition, Row> = {
	"waiting for unlock": { words: "order_on_unlock", tone: "warn", picture: "ask" },
	"needs consent": { words: "order_on_consent", tone: "warn", picture: "ask" },
	"provider says failed, watching for refund": { words: "order_on_refund", tone: "warn", picture: "unsure" },
	"reported, unproven": { words: "order_on_unproven", tone: "warn", picture: "unsure" },
	"reported, transfer seen": { words: "order_on_seen", tone: "warn", picture: "unsure" },
	"settled, and what arrived is unclear": { words: "order_on_unclear", tone: "warn", picture: "unsure" },
	cancelling: { words: "order_on_cancelling", tone: "busy", picture: "busy" },
	"waiting for an earlier transaction": { words: "order_on_nonce", tone: "busy", picture: "wait" },
	"waiting for another order's allowance": { words: "order_on_allowance", tone: "busy", picture: "wait" },
	"waiting for an order that would look alike on the chain": { words: "order_on_twin", tone: "busy", picture: "wait" },
	"written by a newer version": { words: "order_on_newer", tone: "warn", picture: "unsure" },
	"changed outside Swapkeep": { words: "order_on_changed", tone: "critical", picture: "unsure" },
};

/** standing returns an order's state, or its condition while one applies. States of a newer
 * daemon are shown in the daemon's words. */
export function orderStatus(order: Pick<Order, "state" | "condition" | "final" | "means" | "terms" | "verdict">): OrderStatus {
	const { condition, state } = order;
	if (condition && !order.final) {
		const row = lookUp(conditions, condition);
		return row ? { ...row, words: line(row.words) } : strange(condition, false);
	}
	const row = lookUp(states, state);
	if (!row) return strange(order.means, order.final);
	const refunded = state === "refunded";
	const words = order.terms.provider === "wallet" ? (row.revoke ?? row.words) : row.words;
	if (order.verdict?.short) return { words: line(refunded ? "order_state_refunded_short" : "order_state_filled_short"), tone: "warn", picture: row.picture };
	return { ...row, words: line(words) };
}

function strange(words: string, final: boolean): OrderStatus {
	return { words: line("order_raw", words), tone: "warn", picture: final ? "over" : "unsure" };
}

/** lookUp looks up a code that only a newer daemon may know. */
export function lookUp<K extends string, R>(table: Record<K, R>, word: string): R | undefined {
	return Object.hasOwn(table, word) ? table[word as K] : undefined;
}
