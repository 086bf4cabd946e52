import type { MessageKey } from "../i18n/keys";
import type { Condition, Order, Seen } from "../wire/protocol";
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

type Part = Partial<Omit<Card, "tone" | "picture">> & { title: Line };

/** The card of each condition. */
export const conditionCards: Record<Condition, (o: Order, tell: OrderFormatter) => Part> = {
	"waiting for unlock": (o, tell) => ({
		title: line("order_unlock_title"),
		text: [line(o.cancel ? "order_unlock_cancel" : "order_unlock_text"), line("order_until", tell.time(o.terms.deadline))],
		asks: "unlock",
	}),
	"needs consent": () => ({ title: line("order_consent_title"), text: [line("order_consent_text")], asks: "consent" }),
	"provider says failed, watching for refund": (o, tell) => reported(o, tell, "order_refund", [o.terms.srcChainId, o.terms.dstChainId]),
	"reported, unproven": (o, tell) => reported(o, tell, "order_unproven", [o.terms.dstChainId]),
	"reported, transfer seen": (o, tell) => ({
		...reported(o, tell, "order_seen", [o.seen?.chainId ?? o.terms.dstChainId]),
		...(o.seen ? { text: [saw(o.seen, tell)] } : {}),
	}),
	"settled, and what arrived is unclear": (o, tell) => reported(o, tell, "order_unclear", [o.terms.srcChainId]),
	cancelling: (o) => ({
		title: line("order_cancelling_title"),
		text: [line(o.attempts?.some((a) => a.kind === "cancel") ? "order_cancelling_sent" : "order_cancelling_text")],
		links: (o.attempts ?? []).filter((a) => a.kind === "cancel").map((a) => ({ label: "order_link_cancel", chainId: o.terms.srcChainId, tx: a.tx })),
	}),
	"waiting for an earlier transaction": () => ({ title: line("order_nonce_title"), text: [line("order_nonce_text")] }),
	"waiting for another order's allowance": () => ({ title: line("order_allowance_title"), text: [line("order_allowance_text")] }),
	"waiting for an order that would look alike on the chain": () => ({ title: line("order_twin_title"), text: [line("order_twin_text")] }),
	"written by a newer version": () => ({ title: line("order_newer_title"), text: [line("order_newer_text")] }),
	"changed outside Swapkeep": () => ({ title: line("order_changed_title"), text: [line("order_changed_text")] }),
};

function saw({ chainId, token, amount, from }: Seen, tell: OrderFormatter): Line {
	return line("order_seen_what", tell.amount(chainId, token, amount), tell.account(from), tell.network(chainId));
}

/** reported returns what all reported but unproven ends have in common: who reports it,
 * what is not proven, that tracking goes on, and what to do. */
function reported(o: Order, tell: OrderFormatter, name: "order_refund" | "order_unproven" | "order_seen" | "order_unclear", chains: readonly number[]): Part {
	const where = tell.list([...new Set(chains)].map((c) => tell.network(c)));
	const links: { label: MessageKey; chainId: number; tx: string }[] = [];
	if (o.claim?.tx) links.push({ label: "order_link_claim", chainId: o.claim.chainId ?? o.terms.dstChainId, tx: o.claim.tx });
	if (o.seen) links.push({ label: "order_link_seen", chainId: o.seen.chainId, tx: o.seen.tx });
	const said = [o.claim?.word, o.claim?.reason].filter(Boolean).join(": ");
	return {
		title: line(`${name}_title`),
		lines: [
			{ label: "order_told_says", text: claimed(o, tell) },
			{ label: "order_told_unproven", text: line(`${name}_unproven`, where) },
			{ label: "order_told_next", text: line("order_told_next_text", where) },
			{ label: "order_told_do", text: line(`${name}_do`, trusted(o, tell)) },
		],
		links,
		...(said ? { said: { by: "provider", words: said } } : {}),
	};
}

function claimed(o: Order, tell: OrderFormatter): Line {
	return claim(o.claim?.state, tell.provider(o.terms.provider));
}

/** wait returns the card of what an open order is waiting for; undefined if nothing.
 * Conditions of a newer daemon are shown by their code. */
export function conditionCard(order: Order, tell: OrderFormatter): Card | undefined {
	const { condition } = order;
	if (!condition || order.final) return undefined;
	const part = lookUp(conditionCards, condition)?.(order, tell) ?? { title: line("order_raw", condition), ...reasonPart({ words: order.report }, order, tell) };
	const { tone, picture } = lookUp(conditions, condition) ?? { tone: "warn", picture: "unsure" };
	return { tone, picture, text: [], lines: [], links: [], ...(order.proposal ? {} : reasonPart({ cause: order.cause, words: order.reason }, order, tell)), ...part };
}

/** noted returns the part of a card that gives the reason, if there is one. */
export function reasonPart(why: RecordedCause, order: Order, tell: OrderFormatter): Pick<Card, "noted"> {
	return why.cause || why.words ? { noted: () => causeWords(why, order, tell) } : {};
}
