import type { MessageKey } from "../i18n/keys";
import type { Condition, Order, CandidatePayment } from "../wire/protocol";
import { claim, causeWords, type RecordedCause, type QuotedText, type CauseText } from "./cause-words";
import { type Line, line, type OrderFormatter } from "./line";
import { type StatusIcon, lookUp, conditions, type Tone } from "./status";
import { trusted } from "./steps";

/** A Card describes one situation. Its lines have labels, in a fixed order. */
export interface Card {
	title: Line;
	tone: Tone;
	picture: StatusIcon;
	text: readonly Line[];
	lines: readonly { label: MessageKey; text: Line }[];
	links: readonly { label: MessageKey; chainId: number; tx: string }[];
	said?: QuotedText;
	/** The reason, put into words when shown. */
	noted?: () => CauseText;
	/** What the card asks the user to do. */
	asks?: "unlock" | "consent";
}

type Part = Partial<Omit<Card, "tone" | "picture">>;

/** The card of each condition; without a title of its own it has the words of the condition. */
export const conditionCards: Record<Condition, (o: Order, format: OrderFormatter) => Part> = {
	waiting_unlock: (o, format) => ({
		text: [line(o.cancel ? "order_unlock_cancel" : "order_unlock_text"), line("order_until", format.time(o.terms.deadline))],
		asks: "unlock",
	}),
	needs_consent: () => ({ text: [line("order_consent_text")], asks: "consent" }),
	awaiting_refund: (o, format) => reported(o, format, "order_refund", [o.terms.srcChainId, o.terms.dstChainId]),
	awaiting_proof: (o, format) => reported(o, format, "order_unproven", [o.terms.dstChainId]),
	payment_seen: (o, format) => ({
		...reported(o, format, "order_seen", [o.candidatePayment?.chainId ?? o.terms.dstChainId]),
		...(o.candidatePayment ? { text: [saw("order_seen_what", o.candidatePayment, format)] } : {}),
	}),
	likely_paid: (o, format) => ({
		...reported(o, format, "order_likely", [o.candidatePayment?.chainId ?? o.terms.dstChainId]),
		title: line("order_likely_title", format.provider(o.terms.provider)),
		...(o.candidatePayment ? { text: [saw("order_likely_what", o.candidatePayment, format)] } : {}),
	}),
	amount_unclear: (o, format) => reported(o, format, "order_unclear", [o.terms.srcChainId]),
	cancelling: (o) => ({
		text: [line(o.attempts?.some((a) => a.kind === "cancel") ? "order_cancelling_sent" : "order_cancelling_text")],
		links: (o.attempts ?? []).filter((a) => a.kind === "cancel").map((a) => ({ label: "order_link_cancel", chainId: o.terms.srcChainId, tx: a.tx })),
	}),
	waiting_nonce: () => ({ text: [line("order_nonce_text")] }),
	waiting_allowance: () => ({ text: [line("order_allowance_text")] }),
	waiting_similar: () => ({ text: [line("order_similar_text")] }),
	written_by_newer: () => ({ text: [line("order_newer_text")] }),
	record_tampered: () => ({ text: [line("order_changed_text")] }),
};

function saw(what: "order_seen_what" | "order_likely_what", { chainId, token, amount, from }: CandidatePayment, format: OrderFormatter): Line {
	return line(what, format.amount(chainId, token, amount), format.account(from), format.network(chainId));
}

/** reported returns what all reported but unproven ends have in common: who reports it,
 * what is not proven, that tracking goes on, and what to do. */
function reported(o: Order, format: OrderFormatter, name: "order_refund" | "order_unproven" | "order_seen" | "order_likely" | "order_unclear", chains: readonly number[]): Part {
	const where = format.list([...new Set(chains)].map((c) => format.network(c)));
	const links: { label: MessageKey; chainId: number; tx: string }[] = [];
	if (o.claim?.tx) links.push({ label: "order_link_claim", chainId: o.claim.chainId ?? o.terms.dstChainId, tx: o.claim.tx });
	if (o.candidatePayment) links.push({ label: "order_link_seen", chainId: o.candidatePayment.chainId, tx: o.candidatePayment.tx });
	const said = [o.claim?.providerStatus, o.claim?.reason].filter(Boolean).join(": ");
	return {
		lines: [
			{ label: "order_told_says", text: claim(o.claim?.state, format.provider(o.terms.provider)) },
			{ label: "order_told_unproven", text: line(`${name}_unproven`, where) },
			{ label: "order_told_next", text: line("order_told_next_text", where) },
			{ label: "order_told_do", text: line(`${name}_do`, trusted(o, format)) },
		],
		links,
		...(said ? { said: { by: "provider", words: said } } : {}),
	};
}

/** conditionCard returns the card of what an open order is waiting for; undefined if nothing.
 * Conditions of a newer daemon are shown by their code. */
export function conditionCard(order: Order, format: OrderFormatter): Card | undefined {
	const { condition } = order;
	if (!condition || order.final) return undefined;
	const part = lookUp(conditionCards, condition)?.(order, format);
	const { words, tone, picture } = lookUp(conditions, condition) ?? { tone: "warn", picture: "unsure" };
	const title = words ? line(words) : line("order_raw", condition);
	return { title, tone, picture, text: [], lines: [], links: [], ...(order.proposal ? {} : reasonPart({ cause: order.cause, words: order.reason }, order, format)), ...part };
}

/** reasonPart returns the part of a card that gives the reason, if there is one. */
export function reasonPart(why: RecordedCause, order: Order, format: OrderFormatter): Pick<Card, "noted"> {
	return why.cause || why.words ? { noted: () => causeWords(why, order, format) } : {};
}
