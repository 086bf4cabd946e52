import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Offer, ProviderKind, QuoteResult } from "../wire/protocol";
import { openChannel } from "../state/channel";
import { type Comparison, compare } from "./compare";
import type { Query } from "./quotes";

/** How often all providers are asked, in ms, and how long to wait for the panel's own
 * provider before asking without its answer. */
const every = 30_000;
const ownOfferTimeout = 5000;

/** delayUntilAsk returns the time in ms until all providers are asked: at once when the panel's own
 * provider has answered, but not twice within `every`. `last` is when the same was asked before. */
export function delayUntilAsk(answered: boolean, last: number | undefined, now: number): number {
	return Math.max(answered ? 0 : ownOfferTimeout, last === undefined ? 0 : last + every - now);
}

/** useComparison asks all providers for the panel's query: once the panel's own provider
 * has answered or taken too long, and again while the window is visible. `failed`: the own
 * provider has no offer. */
export function useComparison(query: Query | undefined, own: Offer | undefined, failed: boolean, kind: ProviderKind): Comparison | undefined {
	const channel = useMemo(() => openChannel("compare"), []);
	useEffect(() => () => channel.close(), [channel]);
	const key = query && JSON.stringify(query);
	const [answer, set] = useState<{ key: string; result: QuoteResult } | undefined>(undefined);
	const asked = useRef<{ key: string; at: number } | undefined>(undefined);
	const answered = own !== undefined || failed;
	useEffect(() => {
		if (!query || key === undefined) return;
		let timer: ReturnType<typeof setTimeout>;
		const plan = () => {
			clearTimeout(timer);
			if (document.visibilityState === "visible") timer = setTimeout(ask, delayUntilAsk(answered, asked.current?.key === key ? asked.current.at : undefined, Date.now()));
		};
		const ask = async () => {
			const mine = (asked.current = { key, at: Date.now() });
			plan();
			// Without an answer nothing is compared: older offers would mislead.
			const result = await channel.call("swap.quote", { ...query }).catch(() => undefined);
			if (asked.current === mine) set(result && { key, result });
		};
		plan();
		document.addEventListener("visibilitychange", plan);
		return () => {
			clearTimeout(timer);
			document.removeEventListener("visibilitychange", plan);
		};
	}, [key, answered, channel]);
	return useMemo(() => (answer && answer.key === key ? compare(answer.result, own, kind) : undefined), [answer, key, own, kind]);
}
