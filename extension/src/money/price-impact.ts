import type { OfferUSD } from "../wire/protocol";
import { percent } from "./percent";

/** priceImpact returns the price impact in percent: the value received against the value paid, by
 * the wallet's own prices; undefined without prices. The provider's own figure is never shown. */
export function priceImpact(usd: OfferUSD | undefined): string | undefined {
	if (!usd?.amountIn || !usd.amountOut || Number(usd.amountIn) === 0) return undefined;
	const change = (Number(usd.amountOut) / Number(usd.amountIn) - 1) * 100;
	return percent(change, { signDisplay: "exceptZero" });
}
