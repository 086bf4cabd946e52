import { filled, type Formatters } from "../i18n/filled";
import type { MessageKey } from "../i18n/keys";
import { t } from "../i18n/t";
import type { Cause, Order } from "../wire/protocol";
import { type AmountFormatters, errorTitle, fieldWords, detailWords } from "./failure-words";
import { line, lineText, type OrderFormatter } from "./line";
import { conditions, lookUp } from "./status";

/** QuotedText is a text that is not translated, and its author. */
export interface QuotedText {
	by: "wallet" | "provider" | "node";
	words: string;
}

/** CauseText is a cause in words. Either part may be missing. */
export interface CauseText {
	text: string;
	said?: QuotedText;
}

/** RecordedCause is a cause code together with the daemon's own text for it. */
export interface RecordedCause {
	cause?: Cause | undefined;
	words: string | undefined;
}

type About = Pick<Order, "terms">;

/** Messages for the state that the provider reports. */
const claims: Record<string, MessageKey> = {
	filled: "order_claim_filled", refunded: "order_claim_refunded", failed: "order_claim_failed", expired: "order_claim_expired",
	cancelled: "order_claim_cancelled", settling: "order_claim_settling",
};

/** claim returns what the provider reports about an order; without a state, that it reports
 * nothing. */
export const claim = (state: string | undefined, provider: string) => line((state && lookUp(claims, state)) || "order_claim_nothing", provider);

/** causeWords puts a cause into words. For an unknown cause (a newer daemon's) or none (an
 * order of an older version) it falls back to the daemon's own text. */
export function causeWords({ cause, words = "" }: RecordedCause, about: About, format: OrderFormatter): CauseText {
	const text = cause && textOf(cause, about, format);
	if (!cause || text === undefined) return words ? { text: "", said: { by: "wallet", words } } : { text: "" };
	return { text, ...(cause.quotedText ? { said: { by: cause.quotedFrom ?? "provider", words: cause.quotedText } } : {}) };
}

function textOf({ reason, error, details = {} }: Cause, about: About, format: OrderFormatter): string | undefined {
	const { terms } = about;
	const amounts = amountsOf(about, format);
	const formatters: Formatters = {
		...amounts,
		amount: (units, token) => token && format.amount(terms.srcChainId, token, units),
		contract: format.account,
		network: (chainId) => (/^\d+$/.test(chainId) ? format.network(Number(chainId)) : undefined),
		condition: (code) => lookUp(conditions, code) && t(lookUp(conditions, code)!.words),
		claim: (state) => lookUp(claims, state) && lineText(claim(state, format.provider(terms.provider))),
		error: (name) => errorTitle(name, details),
		field: fieldWords,
	};
	const data = { chainId: String(terms.srcChainId), ...details, error };
	const text = filled(`cause_${reason}_field`, data, formatters) ?? filled(`cause_${reason}`, data, formatters);
	return text && [text, detailWords(error, details, amounts)].filter(Boolean).join(" ");
}

/** amountsOf returns the formatters for amounts in a refusal's details, for this order. */
export function amountsOf({ terms }: About, format: OrderFormatter): Required<AmountFormatters> {
	return {
		tokenIn: (units) => format.amount(terms.srcChainId, terms.wrap ?? terms.tokenIn, units),
		tokenOut: (units) => format.amount(terms.dstChainId, terms.tokenOut, units),
		coin: (wei) => format.coin(terms.srcChainId, wei),
	};
}
