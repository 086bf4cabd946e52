import type { ErrorObject, Offer, ProviderKind, QuoteResult } from "../wire/protocol";

/** A Line is one provider's best offer beside the others. */
export interface Line {
	kind: ProviderKind;
	offer: Offer;
	/** How much less than the best it leaves, in hundredths of a percent; 0: the best;
	 * undefined: it cannot be carried out. */
	behind: number | undefined;
	/** It is of the panel that is shown. */
	own: boolean;
}

/** A Comparison is what all providers offer for one swap, best first. */
export interface Comparison {
	lines: readonly Line[];
	/** Why the other providers have no offer. */
	failures: readonly { kind: ProviderKind; error: ErrorObject }[];
	/** What gas costs is counted; not without a price of our own. */
	net: boolean;
	/** How much more the best other offer leaves than the panel's own, in hundredths of
	 * a percent; undefined: there is nothing to compare. */
	better: number | undefined;
}

/** compare sets all offers beside the panel's own, in the daemon's order. Of each
 * provider the first that can be carried out stands for it. */
export function compare(answer: QuoteResult, own: Offer | undefined, kind: ProviderKind): Comparison {
	const firsts = firstOfEach(answer.offers);
	const net = [...firsts, ...(own ? [own] : [])].every((o) => o.netAmountOut !== undefined);
	const left: Left = (o) => BigInt((net ? o.netAmountOut : undefined) ?? o.amountOut);
	const offers = own ? placed(firsts, own, kind, left) : firsts;
	const usable = offers.filter((o) => !o.unusable);
	const best = most(usable, left);
	const lines = offers.map((offer) => ({
		kind: offer.provider as ProviderKind,
		offer,
		behind: offer.unusable ? undefined : 0 - hundredths(left(offer), best),
		own: offer.provider === kind,
	}));
	const mine = usable.find((o) => o.provider === kind);
	const others = usable.filter((o) => o.provider !== kind);
	const failures = Object.entries(answer.failures).flatMap(([k, error]) => (k === kind || !error ? [] : [{ kind: k as ProviderKind, error }]));
	return { lines, failures, net: net && offers.length > 0, better: mine && others.length > 0 ? hundredths(most(others, left), left(mine)) : undefined };
}

/** What is left of an offer, in base units. */
type Left = (o: Offer) => bigint;

const most = (offers: readonly Offer[], left: Left) => offers.reduce((m, o) => (left(o) > m ? left(o) : m), 0n);

function firstOfEach(offers: readonly Offer[]): Offer[] {
	const first = new Map<string, Offer>();
	for (const o of offers) {
		const before = first.get(o.provider);
		if (!before || (before.unusable && !o.unusable)) first.set(o.provider, o);
	}
	return [...first.values()];
}

/** The panel's own offer is newer than the one that was asked for beside it, and takes
 * its place; where there is none it stands before the first that leaves less. */
function placed(offers: readonly Offer[], own: Offer, kind: ProviderKind, left: Left): Offer[] {
	if (offers.some((o) => o.provider === kind)) return offers.map((o) => (o.provider === kind ? own : o));
	const at = offers.findIndex((o) => o.unusable || left(o) < left(own));
	return at < 0 ? [...offers, own] : [...offers.slice(0, at), own, ...offers.slice(at)];
}

/** hundredths of a percent that `a` is above `b`. */
export function hundredths(a: bigint, b: bigint): number {
	return b === 0n ? 0 : Number(((a - b) * 10_000n) / b);
}
