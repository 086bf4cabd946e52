import type { MessageKey } from "../i18n/keys";
import type { Condition, Order, OrderState } from "../wire/protocol";
import { type Line, line } from "./line";

/** Always shown with an icon and words, never by colour alone. */
export type Tone = "neutral" | "busy" | "good" | "warn" | "critical";
export type StatusIcon = "busy" | "wait" | "done" | "back" | "failed" | "over" | "ask" | "unsure" | "none";

/** An OrderStatus is the state of an order in a word or two. */
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
	accepted: { words: "state_accepted", tone: "busy", picture: "busy" },
	approving: { words: "state_approving", revoke: "state_revoking", tone: "busy", picture: "busy" },
	executing: { words: "state_executing", tone: "busy", picture: "busy" },
	submitting: { words: "state_submitting", tone: "busy", picture: "busy" },
	settling: { words: "state_settling", tone: "busy", picture: "busy" },
	closed: { words: "state_closed", tone: "neutral", picture: "over" },
	filled: { words: "state_filled", revoke: "state_revoked", tone: "good", picture: "done" },
	refunded: { words: "state_refunded", tone: "warn", picture: "back" },
	failed: { words: "state_failed", tone: "critical", picture: "failed" },
	expired: { words: "state_expired", tone: "neutral", picture: "over" },
	cancelled: { words: "state_cancelled", tone: "neutral", picture: "over" },
	unreadable: { words: "state_unreadable", tone: "critical", picture: "unsure" },
};

/** Every condition. While one applies, it is shown instead of the state. */
export const conditions: Record<Condition, Row> = {
	waiting_unlock: { words: "condition_waiting_unlock", tone: "warn", picture: "ask" },
	needs_consent: { words: "condition_needs_consent", tone: "warn", picture: "ask" },
	awaiting_refund: { words: "condition_awaiting_refund", tone: "warn", picture: "unsure" },
	awaiting_proof: { words: "condition_awaiting_proof", tone: "warn", picture: "unsure" },
	payment_seen: { words: "condition_payment_seen", tone: "warn", picture: "unsure" },
	likely_paid: { words: "condition_likely_paid", tone: "good", picture: "done" },
	amount_unclear: { words: "condition_amount_unclear", tone: "warn", picture: "unsure" },
	cancelling: { words: "condition_cancelling", tone: "busy", picture: "busy" },
	waiting_nonce: { words: "condition_waiting_nonce", tone: "busy", picture: "wait" },
	waiting_allowance: { words: "condition_waiting_allowance", tone: "busy", picture: "wait" },
	waiting_similar: { words: "condition_waiting_similar", tone: "busy", picture: "wait" },
	written_by_newer: { words: "condition_written_by_newer", tone: "warn", picture: "unsure" },
	record_tampered: { words: "condition_record_tampered", tone: "critical", picture: "unsure" },
};

/** received tells whether the output arrived, as far as is known. */
export const received = ({ state, condition }: Pick<Order, "state" | "condition">): boolean => state === "filled" || condition === "likely_paid";

/** orderStatus returns an order's state, or its condition while one applies. States of a newer
 * daemon are shown by their code. */
export function orderStatus(order: Pick<Order, "state" | "condition" | "final" | "terms" | "verdict">): OrderStatus {
	const { condition, state } = order;
	if (condition && !order.final) {
		const row = lookUp(conditions, condition);
		return row ? { ...row, words: line(row.words) } : strange(condition, false);
	}
	const row = lookUp(states, state);
	if (!row) return strange(state, order.final);
	const refunded = state === "refunded";
	const words = order.terms.provider === "wallet" ? (row.revoke ?? row.words) : row.words;
	if (order.verdict?.belowMinimum) return { words: line(refunded ? "state_refunded_short" : "state_filled_short"), tone: "warn", picture: row.picture };
	return { ...row, words: line(words) };
}

function strange(words: string, final: boolean): OrderStatus {
	return { words: line("order_raw", words), tone: "warn", picture: final ? "over" : "unsure" };
}

/** lookUp looks up a code that only a newer daemon may know. */
export function lookUp<K extends string, R>(table: Record<K, R>, word: string): R | undefined {
	return Object.hasOwn(table, word) ? table[word as K] : undefined;
}
