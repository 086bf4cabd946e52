import type { MessageKey } from "../i18n/keys";
import type { Order, OrderState, ProvenBy, Spend } from "../wire/protocol";
import { isolatedFunds } from "./isolated";
import { type Line, line, type OrderFormatter } from "./line";
import { claim } from "./cause-words";
import { lookUp, orderStatus } from "./status";
import { handedOver, trusted } from "./steps";
import { type Card, reasonPart } from "./condition-cards";

interface End {
	/** What happened, and thereby how the end is known. */
	happened: MessageKey;
	/** What the user should do, if the order did not do what was asked. */
	todo: MessageKey;
}

/** Every proof that ends an order. */
export const endTexts: Record<ProvenBy, End> = {
	own_call: { happened: "order_by_own_call", todo: "order_do_nothing" },
	opaque_call: { happened: "order_by_opaque_call", todo: "order_do_nothing" },
	fill: { happened: "order_by_fill", todo: "order_do_nothing" },
	partial_fill: { happened: "order_by_partial_fill", todo: "order_do_rest" },
	arrival: { happened: "order_by_arrival", todo: "order_do_nothing" },
	refund: { happened: "order_by_refund", todo: "order_do_again" },
	revoke: { happened: "order_by_revoke", todo: "order_do_nothing" },
	revert: { happened: "order_by_revert", todo: "order_do_again" },
	tx_replaced: { happened: "order_by_tx_replaced", todo: "order_do_look" },
	allowance_kept: { happened: "order_by_allowance_kept", todo: "order_do_kept" },
	order_nonce_used: { happened: "order_by_order_nonce_used", todo: "order_do_again" },
	absence: { happened: "order_by_absence", todo: "order_do_again" },
	never_signed: { happened: "order_by_never_signed", todo: "order_do_unlocked" },
	never_sent: { happened: "order_by_never_sent", todo: "order_do_network" },
	invalidated: { happened: "order_by_invalidated", todo: "order_do_anytime" },
	cancel: { happened: "order_by_cancel", todo: "order_do_anytime" },
	withdrawn: { happened: "order_by_withdrawn", todo: "order_do_anytime" },
	never_sent_cancelled: { happened: "order_by_never_sent_cancelled", todo: "order_do_anytime" },
};

/** For orders of older versions, which do not record what proved their end. */
const endsOfOld: Partial<Record<OrderState, End>> = {
	filled: { happened: "order_old_filled", todo: "order_do_nothing" },
	refunded: { happened: "order_old_refunded", todo: "order_do_again" },
	failed: { happened: "order_old_failed", todo: "order_do_again" },
	expired: { happened: "order_old_expired", todo: "order_do_again" },
	cancelled: { happened: "order_old_cancelled", todo: "order_do_anytime" },
};

/** Withdrawn by the wallet; the user did not cancel. */
const refused: End = { happened: "order_by_refused", todo: "order_do_again" };

function endOf(o: Order): End {
	const by = o.verdict?.provenBy;
	if (by === "withdrawn" && !o.cancel) return refused;
	return (by && lookUp(endTexts, by)) || endsOfOld[o.state] || { happened: "order_old_unknown", todo: "order_do_look" };
}

/** endCard returns the card of an order's end; undefined while it is open. For filled and
 * refunded orders it says what arrived; all others get four lines: what happened, where the
 * funds are, what happens next, what to do. */
export function endCard(order: Order, format: OrderFormatter): Card | undefined {
	if (!order.final) return undefined;
	const { tone, picture } = orderStatus(order);
	const frame = { tone, picture, links: links(order), lines: [], text: [], ...why(order, format) };
	if (order.state === "filled") return { ...frame, ...filled(order, format) };
	if (order.state === "refunded") return { ...frame, ...refunded(order, format) };
	return { ...frame, title: orderStatus(order).words, lines: fourLines(order, format) };
}

/** closedCard returns the card of an order that was closed, unless a condition says more. */
export function closedCard(order: Order, format: OrderFormatter): Card | undefined {
	const { closing, terms } = order;
	if (order.state !== "closed" || order.condition || !closing) return undefined;
	const { tone, picture, words } = orderStatus(order);
	const seen = closing.candidatePayment;
	const paid = order.steps.findLast((s) => s.tx);
	return {
		tone, picture, title: words, text: [],
		lines: [
			{ label: "order_line_happened", text: closing.by === "person" ? line("order_closed_person", format.time(closing.at)) : line("order_closed_age") },
			{ label: "order_told_says", text: claim(closing.claim?.state, format.provider(terms.provider)) },
			{ label: "order_line_next", text: line(closing.watched ? "order_closed_watched" : "order_closed_unwatched") },
			{ label: "order_line_do", text: handedOver(order) ? line("order_closed_do", trusted(order, format), format.network(terms.dstChainId)) : line("order_closed_ended_do", format.network(terms.srcChainId)) },
		],
		links: [
			...(paid?.tx ? [{ label: "order_link_deposit" as const, chainId: paid.effect.chainId, tx: paid.tx }] : []),
			...(seen ? [{ label: "order_link_seen" as const, chainId: seen.chainId, tx: seen.tx }] : []),
		],
	};
}

/** Causes that only repeat what the "what happened" line says. */
const saidByEnd = new Set<string>(["deadline_passed", "withdrawn", "nonce_used", "cancel_mined", "reverted"]);

function why(o: Order, format: OrderFormatter): Pick<Card, "noted"> {
	return o.cause && o.verdict?.provenBy && saidByEnd.has(o.cause.reason) ? {} : reasonPart({ cause: o.cause, words: o.reason }, o, format);
}

function filled(o: Order, format: OrderFormatter): Partial<Card> & { title: Line } {
	const { terms, verdict } = o;
	if (terms.provider === "wallet") return { title: line("order_revoked_title"), text: [happened(o, format)] };
	const out = (units: string) => format.amount(terms.dstChainId, terms.tokenOut, units);
	const got = verdict?.received ? format.amount(terms.dstChainId, verdict.received.token, verdict.received.amount) : out(terms.minOut);
	const mine = terms.recipient === terms.account;
	const title = verdict?.received ? "order_received_title" : "order_received_least_title";
	const where = format.network(terms.dstChainId);
	const text = [mine ? line("order_received_here", format.account(terms.account), where) : line("order_received_there", terms.recipient, where)];
	if (verdict?.belowMinimum && verdict.received) text.push(line("order_short", out(missing(terms.minOut, verdict.received.amount)), out(terms.minOut)));
	const spent = partly(o);
	if (spent) {
		const kept = format.amount(terms.srcChainId, spent.token, missing(terms.amountIn, spent.amount));
		text.push(line("order_partly", spend(terms.srcChainId, spent, format), kept));
	}
	return { title: line(title, got), text };
}

function refunded(o: Order, format: OrderFormatter): Partial<Card> & { title: Line } {
	const { terms, verdict } = o;
	const least = terms.refund ?? { token: terms.tokenIn, amount: terms.amountIn };
	const back = verdict?.received ?? least;
	const text = [line("order_refunded_where", format.account(terms.refundTo), format.network(terms.srcChainId)), happened(o, format)];
	if (verdict?.belowMinimum) text.push(line("order_refunded_short", format.amount(terms.srcChainId, least.token, missing(least.amount, back.amount))));
	return { title: line("order_refunded_title", spend(terms.srcChainId, back, format)), text };
}

/** fourLines returns the lines of a failure card. */
function fourLines(o: Order, format: OrderFormatter): Card["lines"] {
	return [
		{ label: "order_line_happened", text: happened(o, format) },
		{ label: "order_line_funds", text: whereabouts(o, format) },
		{ label: "order_line_next", text: line(o.leftovers?.length ? "order_next_leftover" : "order_next_nothing") },
		{ label: "order_line_do", text: line(o.terms.provider === "wallet" && o.verdict?.provenBy !== "allowance_kept" ? "order_do_revoke" : endOf(o).todo) },
	];
}

export const happened = (o: Order, format: OrderFormatter): Line => line(endOf(o).happened, format.provider(o.terms.provider));

/** whereabouts says where the input is, for an order neither filled nor refunded. */
function whereabouts(o: Order, format: OrderFormatter): Line {
	const { terms, verdict } = o;
	if (terms.provider === "wallet") return line("order_funds_allowance");
	const held = format.amount(terms.srcChainId, terms.tokenIn, terms.amountIn);
	const at = [format.account(terms.account), format.network(terms.srcChainId)];
	const gas = verdict?.evidence && format.coin(verdict.evidence.chainId, verdict.evidence.feePaid);
	if (o.wrapped) return line("order_funds_wrapped", held, ...at);
	const isolated = isolatedFunds(o);
	if (isolated) return line(isolated.key, isolated.back ? format.amount(terms.srcChainId, terms.tokenIn, isolated.back) : held, ...at);
	return gas ? line("order_funds_gas", held, ...at, gas) : line("order_funds_kept", held, ...at);
}

/** partly returns the amount spent if it is less than was signed. */
function partly({ terms, verdict }: Order): Spend | undefined {
	const { spent } = verdict ?? {};
	return spent && BigInt(spent.amount) < BigInt(terms.amountIn) ? spent : undefined;
}

const missing = (wanted: string, got: string) => (BigInt(wanted) > BigInt(got) ? (BigInt(wanted) - BigInt(got)).toString() : "0");
const spend = (chainId: number, s: Spend, format: OrderFormatter) => format.amount(chainId, s.token, s.amount);

function links(o: Order): Card["links"] {
	const { evidence, deposit } = o.verdict ?? {};
	const out: { label: MessageKey; chainId: number; tx: string }[] = [];
	if (deposit) out.push({ label: "order_link_deposit", chainId: deposit.chainId, tx: deposit.tx });
	if (evidence) out.push({ label: o.state === "refunded" ? "order_link_refund" : "order_link_end", chainId: evidence.chainId, tx: evidence.tx });
	return out;
}
