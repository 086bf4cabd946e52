import type { MessageKey } from "../i18n/keys";
import { optionalMessage, t } from "../i18n/t";
import { Failure } from "../wire/failure";
import { type Cause, type ReasonCode, errors, type Order } from "../wire/protocol";
import { type AmountFormatters, fieldWords, figureWords, refusalWords } from "./failure-words";
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
type Details = Readonly<Record<string, string>>;

/** The values of each cause's message, $1 to $9 in order. If one of them is undefined, the
 * daemon's own text is shown instead. */
export const messageValues: Partial<Record<ReasonCode, (d: Details, amounts: Required<AmountFormatters>, about: About, format: OrderFormatter) => (string | undefined)[]>> = {
	price_fell: (d, { tokenOut }) => [units(d["minOut"], tokenOut), units(d["offered"], tokenOut)],
	allowance_spent: (d, { tokenIn }, _, format) => [d["spender"] && format.account(d["spender"]), units(d["spent"], tokenIn), units(d["allowed"], tokenIn)],
	allowance_unchecked: (d, _, __, format) => [d["spender"] && format.account(d["spender"])],
	check_transaction: (d, _, about, format) => [d["tx"], format.network(Number(d["chainId"] ?? about.terms.srcChainId))],
	waiting: (d) => [wordsIn(conditions, d["condition"])],
	search_started: (d) => [d["block"]],
	step_sent: (d) => [d["step"]],
	step_mined: (d) => [d["step"]],
	provider_reported: (d, _, about, format) => [d["state"] && lineText(claim(d["state"], format.provider(about.terms.provider)))],
	user_raised_ceiling: (d, { coin }) => [units(d["previous"], coin), units(d["ceiling"], coin)],
};

/** Messages for the state that the provider reports. */
const claims: Record<string, MessageKey> = {
	filled: "order_claim_filled", refunded: "order_claim_refunded", failed: "order_claim_failed", expired: "order_claim_expired",
	cancelled: "order_claim_cancelled", settling: "order_claim_settling",
};

/** claim returns what the provider reports about an order; without a state, that it reports
 * nothing. */
export const claim = (state: string | undefined, provider: string) => line((state && lookUp(claims, state)) || "order_claim_nothing", provider);

const wordsIn = (table: Record<string, { words: MessageKey }>, word = "") => lookUp(table, word) && t(lookUp(table, word)!.words);
const units = (figure: string | undefined, write: (units: string) => string) => (figure && /^\d+$/.test(figure) ? write(figure) : undefined);

/** Causes whose message contains the title of a refusal as $1. */
const refusing = new Set<ReasonCode>(["refused", "refused_for_now", "refused_unsigned", "refused_by_provider"]);

/** causeWords puts a cause into words. For an unknown cause (a newer daemon's) or none (an
 * order of an older version) it falls back to the daemon's own text. */
export function causeWords({ cause, words = "" }: RecordedCause, about: About, format: OrderFormatter): CauseText {
	const text = cause && textOf(cause, about, format);
	if (!cause || text === undefined) return words ? { text: "", said: { by: "wallet", words } } : { text: "" };
	return { text, ...(cause.quotedText ? { said: { by: cause.quotedFrom ?? "provider", words: cause.quotedText } } : {}) };
}

function textOf(cause: Cause, about: About, format: OrderFormatter): string | undefined {
	const { reason, details = {} } = cause;
	const amounts = amountsOf(about, format);
	if (refusing.has(reason)) return refusalOf(cause, amounts);
	if (reason === "outside_terms") return outside(details, amounts);
	const filled = messageValues[reason]?.(details, amounts, about, format) ?? [];
	return filled.every((v) => v !== undefined) ? optionalMessage(`cause_${reason}`, ...(filled as string[])) : undefined;
}

/** refusalOf uses the first sentence of a refusal's title: the second is about signatures,
 * which the order itself knows better. */
function refusalOf({ reason, error, details = {} }: Cause, amounts: AmountFormatters): string | undefined {
	if (!error || !Object.hasOwn(errors, error)) return undefined;
	const { title, text } = refusalWords(new Failure({ code: 0, message: "", data: { name: error, retryable: false, remedy: "", details } }), amounts);
	return [t(`cause_${reason}`, title.replace(/\.( .*)?$/, "")), text].filter(Boolean).join(" ");
}

function outside(details: Details, amounts: AmountFormatters): string {
	const field = details["field"] && fieldWords(details["field"]);
	const first = field ? t("cause_outside_terms_field", field) : t("cause_outside_terms");
	return [first, figureWords(details, amounts)].filter(Boolean).join(" ");
}

/** amountsOf returns the formatters for amounts in a refusal's details, for this order. */
export function amountsOf({ terms }: About, format: OrderFormatter): Required<AmountFormatters> {
	return {
		tokenIn: (units) => format.amount(terms.srcChainId, terms.wrap ?? terms.tokenIn, units),
		tokenOut: (units) => format.amount(terms.dstChainId, terms.tokenOut, units),
		coin: (wei) => format.coin(terms.srcChainId, wei),
	};
}
