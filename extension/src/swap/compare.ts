import type { ErrorObject, Offer, ProviderKind, QuoteResult } from "../wire/protocol";

/** A Line is one provider's best offer in the comparison. */
export interface Line {
	kind: ProviderKind;
	offer: Offer;
	/** How much less than the best it leaves, in hundredths of a percent; 0: the best;
	 * undefined: it cannot be used. */
	behind: number | undefined;
	/** It is from the panel's provider. */
	own: boolean;
}

/** A Comparison has the offers of all providers for one swap, best first. */
export interface Comparison {
	lines: readonly Line[];
	/** Why other providers have no offer. */
	failures: readonly { kind: ProviderKind; error: ErrorObject }[];
	/** Amounts are after gas, which takes a price for every offer. */
	net: boolean;
	/** How much more the best other offer leaves than the panel's own, in hundredths of a
	 * percent; undefined: nothing to compare. */
	better: number | undefined;
}

/** compare builds the comparison, in the daemon's order, with the panel's own offer in it.
 * Each provider is represented by its first usable offer. */
export function compare(answer: QuoteResult, own: Offer | undefined, kind: ProviderKind): Comparison {
	const firsts = firstOfEach(answer.offers);
	const net = [...firsts, ...(own ? [own] : [])].every((o) => o.netAmountOut !== undefined);
	const left: Left = (o) => BigInt((net ? o.netAmountOut : undefined) ?? o.amountOut);
	const offers = own ? withOwnOffer(firsts, own, kind, left) : firsts;
	const usable = offers.filter((o) => !o.unusable);
	const best = largest(usable, left);
	const lines = offers.map((offer) => ({
		kind: offer.provider as ProviderKind,
		offer,
		behind: offer.unusable ? undefined : 0 - hundredths(left(offer), best),
		own: offer.provider === kind,
	}));
	const mine = usable.find((o) => o.provider === kind);
	const others = usable.filter((o) => o.provider !== kind);
	const failures = Object.entries(answer.failures).flatMap(([k, error]) => (k === kind || !error ? [] : [{ kind: k as ProviderKind, error }]));
	return { lines, failures, net: net && offers.length > 0, better: mine && others.length > 0 ? hundredths(largest(others, left), left(mine)) : undefined };
}

/** The amount that an offer leaves, in base units. */
type Left = (o: Offer) => bigint;

const largest = (offers: readonly Offer[], left: Left) => offers.reduce((m, o) => (left(o) > m ? left(o) : m), 0n);

function firstOfEach(offers: readonly Offer[]): Offer[] {
	const first = new Map<string, Offer>();
	for (const o of offers) {
		const before = first.get(o.provider);
		if (!before || (before.unusable && !o.unusable)) first.set(o.provider, o);
	}
	return [...first.values()];
}

/** withOwnOffer puts the panel's own offer in place of that provider's offer in the answer, which
 * is older. If the answer has none, it goes before the first that leaves less. */
function withOwnOffer(offers: readonly Offer[], own: Offer, kind: ProviderKind, left: Left): Offer[] {
	if (offers.some((o) => o.provider === kind)) return offers.map((o) => (o.provider === kind ? own : o));
	const at = offers.findIndex((o) => o.unusable || left(o) < left(own));
	return at < 0 ? [...offers, own] : [...offers.slice(0, at), own, ...offers.slice(at)];
}

/** hundredths returns how far `a` is above `b`, in hundredths of a percent. */
export function hundredths(a: bigint, b: bigint): number {
	return b === 0n ? 0 : Number(((a - b) * 10_000n) / b);
}
