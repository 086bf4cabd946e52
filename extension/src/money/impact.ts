import type { OfferUSD } from "../wire/protocol";
import { percent } from "./percent";

/** impact is how much more or less comes out than goes in, in percent by the wallet's
 * own prices; undefined without them. The provider's own figure is never shown. */
export function impact(usd: OfferUSD | undefined): string | undefined {
	if (!usd?.amountIn || !usd.amountOut || Number(usd.amountIn) === 0) return undefined;
	const change = (Number(usd.amountOut) / Number(usd.amountIn) - 1) * 100;
	return percent(change, { signDisplay: "exceptZero" });
}
