import type { MessageKey } from "../i18n/keys";
import type { FindingCode, Order, Review, Terms } from "../wire/protocol";
import type { Teller } from "./line";

/** A Change is one of the bounds that consent is about, as accepted and as proposed. */
export interface Change {
	label: MessageKey;
	accepted: string;
	proposed: string;
	changed: boolean;
}

interface Bound {
	label: MessageKey;
	code: FindingCode;
	of: (t: Terms) => string;
	write: (value: string, t: Terms, tell: Teller) => string;
}

const bounds: readonly Bound[] = [
	{ label: "order_bound_floor", code: "floor_lowered", of: (t) => t.floorOut, write: (v, t, tell) => tell.amount(t.dstChainId, t.tokenOut, v) },
	{ label: "order_bound_fee", code: "fee_raised", of: (t) => String(t.feeBps + (t.makerFeeBps ?? 0)), write: (v) => percent(v) },
	{ label: "order_bound_ceiling", code: "ceiling_raised", of: (t) => t.gasCeiling, write: (v, t, tell) => tell.coin(t.srcChainId, v) },
];

/** changes puts what was accepted and what is proposed beside each other. What the
 * finding says was accepted goes before the order's terms, which a consent replaced. */
export function changes(order: Pick<Order, "terms">, review: Pick<Review, "terms" | "findings">, tell: Teller): Change[] {
	return bounds.map(({ label, code, of, write }) => {
		const data = review.findings.find((f) => f.code === code)?.data;
		const [accepted, proposed] = [data?.["accepted"] ?? of(order.terms), data?.["proposed"] ?? of(review.terms)];
		return { label, accepted: write(accepted, order.terms, tell), proposed: write(proposed, review.terms, tell), changed: accepted !== proposed };
	});
}

/** Basis points as percent: "45" is "0.45 %". */
function percent(bps: string): string {
	return /^\d+$/.test(bps) ? `${Number(bps) / 100} %` : bps;
}
