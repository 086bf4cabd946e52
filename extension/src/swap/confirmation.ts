import type { FindingCode, Review } from "../wire/protocol";
import type { MessageKey } from "../i18n/keys";
import { approvals, requiredAcknowledgements } from "./panel";

/** The text and action of the review's button. */
export interface Confirmation {
	key: MessageKey;
	values?: readonly string[];
	act?: "confirm" | "requote";
	level?: "critical";
}

/** The button's text while a finding of that code blocks the swap or must be acknowledged. */
const named: Partial<Record<FindingCode, MessageKey>> = {
	gas_insufficient: "confirm_gas_insufficient",
	gas_ceiling: "confirm_gas_ceiling",
	gas_excessive: "confirm_gas_excessive",
	value_unknown: "confirm_value_unknown",
	price_unknown: "confirm_price_unknown",
	output_unverified: "confirm_output_unverified",
	output_lookalike: "confirm_output_lookalike",
	price_impact: "confirm_price_impact",
};

/** confirmation returns the state of the review's button: what blocks the swap, then what
 * must be acknowledged, then its action. */
export function confirmation(review: Review, acknowledged: readonly FindingCode[], gone: boolean, executing: boolean): Confirmation {
	if (executing) return { key: "confirm_executing" };
	if (gone) return { key: "button_requote", act: "requote" };
	const blocking = review.findings.find((f) => f.severity === "block");
	if (review.blocked) return { key: (blocking && named[blocking.code]) ?? "confirm_blocked", level: "critical" };
	const open = requiredAcknowledgements(review).find((code) => !acknowledged.includes(code));
	if (open) return { key: named[open] ?? "confirm_acknowledge", level: "critical" };
	const risky = requiredAcknowledgements(review).length > 0;
	const key = risky ? "confirm_anyway" : approvals(review).length > 0 ? "confirm_approve" : review.settlement === "provider" && !hasCall(review) ? "confirm_sign" : "confirm_swap";
	return { key, act: "confirm", ...(risky ? { level: "critical" as const } : {}) };
}

function hasCall(review: Review): boolean {
	return review.steps.some((s) => s.kind !== "typed");
}
