import type { MessageKey } from "../i18n/keys";
import { ofBps } from "../money/percent";
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
 * finding says was accepted goes before the order's terms, which a consent replaced.
 * Floors are as `glance` writes them, unless the change is in the digits that it cuts off. */
export function changes(order: Pick<Order, "terms">, review: Pick<Review, "terms" | "findings">, tell: Teller, glance: Teller = tell): Change[] {
	const floors = { ...tell, amount: glance.amount }; // cut off, which only a floor may be
	return bounds.map(({ label, code, of, write }) => {
		const data = review.findings.find((f) => f.code === code)?.data;
		const [accepted, proposed] = [data?.["accepted"] ?? of(order.terms), data?.["proposed"] ?? of(review.terms)];
		const changed = accepted !== proposed;
		const pairs = [floors, tell].map((by) => ({ accepted: write(accepted, order.terms, by), proposed: write(proposed, review.terms, by) }));
		const seen = pairs.find((pair) => !changed || pair.accepted !== pair.proposed) ?? pairs[1]!;
		return { label, ...seen, changed };
	});
}

/** Basis points as percent: "45" is "0.45 %". */
function percent(bps: string): string {
	return /^\d+$/.test(bps) ? ofBps(Number(bps)) : bps;
}
