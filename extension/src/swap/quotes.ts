import type { Offer } from "../wire/protocol";
import type { Failure } from "../wire/failure";

/** A Query is what a quote is requested for. Queries with the same JSON are the same. */
export interface Query {
	account: string;
	srcChainId: number;
	tokenIn: string;
	amountIn: string;
	dstChainId: number;
	tokenOut: string;
	slippage: number;
}

/** Quotes are the answers to one query, as shown in the form.
 * idle: nothing to ask.
 * asking: waiting for the first answer.
 * shown: valid offers.
 * refreshing: older offers are shown, dimmed, while new ones are loaded.
 * expired: none is valid any more.
 * failed: there are none; `failure` says why.
 * taken: another window watches a quote now. */
export interface Quotes {
	at: "idle" | "asking" | "shown" | "refreshing" | "expired" | "failed" | "taken";
	query?: Query;
	offers: readonly Offer[];
	failure?: Failure;
	/** When the offers arrived, ms since 1970; the start of the expiry ring. */
	since: number;
}

export const noQuotes: Quotes = { at: "idle", offers: [], since: 0 };

export type QuoteEvent =
	| { event: "asked"; query: Query | undefined }
	| { event: "offered"; query: Query; offers: readonly Offer[]; done: boolean; now: number }
	| { event: "failed"; query: Query; failure: Failure }
	| { event: "taken" }
	| { event: "tick"; now: number };

export function sameQuery(a: Query | undefined, b: Query | undefined): boolean {
	return JSON.stringify(a) === JSON.stringify(b);
}

/** sameSwap reports whether two queries have the same tokens and networks, at any amount. */
export function sameSwap(a: Query, b: Query): boolean {
	return a.srcChainId === b.srcChainId && a.tokenIn === b.tokenIn && a.dstChainId === b.dstChainId && a.tokenOut === b.tokenOut;
}

/** quoted returns the next state of the quotes. Answers to an older query change nothing. */
export function quoted(quotes: Quotes, e: QuoteEvent): Quotes {
	switch (e.event) {
		case "asked":
			return asked(quotes, e.query);
		case "offered":
			return sameQuery(quotes.query, e.query) ? offered(quotes, e.offers, e.done, e.now) : quotes;
		case "failed":
			return sameQuery(quotes.query, e.query) ? failed(quotes, e.failure) : quotes;
		case "taken":
			return quotes.query ? { ...quotes, at: "taken" } : quotes;
		case "tick":
			return expire(quotes, e.now);
	}
}

function asked(quotes: Quotes, query: Query | undefined): Quotes {
	if (!query) return noQuotes;
	const same = sameQuery(quotes.query, query) && quotes.offers.length > 0;
	return same ? { ...quotes, at: "refreshing" } : { at: "asking", query, offers: [], since: 0 };
}

function offered(quotes: Quotes, offers: readonly Offer[], done: boolean, now: number): Quotes {
	if (offers.length === 0 && !done) return quotes;
	const kept = done ? [] : quotes.offers.filter((o) => !offers.some((n) => n.id === o.id));
	const all = [...kept, ...offers];
	const { failure: _, ...rest } = quotes;
	if (all.length === 0) return { ...rest, at: taken(quotes) ? "taken" : "failed", offers: [] };
	return { ...rest, at: taken(quotes) ? "taken" : "shown", offers: all, since: now };
}

/** failed keeps valid offers after a background refresh with a retryable failure; they stay
 * until they expire. */
function failed(quotes: Quotes, failure: Failure): Quotes {
	if (taken(quotes) || (quotes.at === "shown" && failure.retryable)) return quotes;
	return { ...quotes, at: "failed", offers: [], failure };
}

/** taken reports whether another window took the watch. Requests still pending are
 * answered, but not repeated. */
function taken(quotes: Quotes): boolean {
	return quotes.at === "taken";
}

function expire(quotes: Quotes, now: number): Quotes {
	if (quotes.at !== "shown" && quotes.at !== "taken") return quotes;
	return quotes.offers.every((o) => expired(o, now)) && quotes.offers.length > 0 ? { ...quotes, at: "expired" } : quotes;
}

/** expired compares with the local clock; the daemon has already corrected the time for the
 * provider's clock. An invalid time counts as expired. */
export function expired(offer: { expires: string }, now: number): boolean {
	return !(Date.parse(offer.expires) > now);
}

/** usable reports whether an offer can be executed, rather than only shown. */
export function usable(offer: Offer, now: number): boolean {
	return !offer.unusable && !expired(offer, now);
}
