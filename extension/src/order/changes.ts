import type { MessageKey } from "../i18n/keys";
import { bpsAsPercent } from "../money/percent";
import type { FindingCode, Order, Review, Terms } from "../wire/protocol";
import type { OrderFormatter } from "./line";

/** A Change is one of the limits that consent covers, as accepted and as proposed. */
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
	write: (value: string, t: Terms, format: OrderFormatter) => string;
}

const bounds: readonly Bound[] = [
	{ label: "order_bound_floor", code: "minimum_lowered", of: (t) => t.minOut, write: (v, t, format) => format.amount(t.dstChainId, t.tokenOut, v) },
	{ label: "order_bound_fee", code: "fee_raised", of: (t) => String(t.feeBps + (t.makerFeeBps ?? 0)), write: (v) => percent(v) },
	{ label: "order_bound_ceiling", code: "ceiling_raised", of: (t) => t.gasCeiling, write: (v, t, format) => format.coin(t.srcChainId, v) },
];

/** changes compares the accepted with the proposed terms. Values in the finding win over
 * the order's terms, which a later consent has replaced. Minimum amounts are formatted by
 * `glance`, unless the change is only in the digits that it cuts off. */
export function changes(order: Pick<Order, "terms">, review: Pick<Review, "terms" | "findings">, format: OrderFormatter, glance: OrderFormatter = format): Change[] {
	const floors = { ...format, amount: glance.amount }; // only the minimum received may be rounded down
	return bounds.map(({ label, code, of, write }) => {
		const data = review.findings.find((f) => f.code === code)?.data;
		const [accepted, proposed] = [data?.["accepted"] ?? of(order.terms), data?.["proposed"] ?? of(review.terms)];
		const changed = accepted !== proposed;
		const pairs = [floors, format].map((by) => ({ accepted: write(accepted, order.terms, by), proposed: write(proposed, review.terms, by) }));
		const seen = pairs.find((pair) => !changed || pair.accepted !== pair.proposed) ?? pairs[1]!;
		return { label, ...seen, changed };
	});
}

/** percent formats basis points: "45" becomes "0.45 %". */
function percent(bps: string): string {
	return /^\d+$/.test(bps) ? bpsAsPercent(Number(bps)) : bps;
}
