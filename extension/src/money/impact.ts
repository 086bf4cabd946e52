import type { OfferUSD } from "../wire/protocol";
import { locale } from "../i18n/t";

/** impact is how much more or less comes out than goes in, in percent by the wallet's
 * own prices; undefined without them. The provider's own figure is never shown. */
export function impact(usd: OfferUSD | undefined): string | undefined {
	if (!usd?.amountIn || !usd.amountOut || Number(usd.amountIn) === 0) return undefined;
	const change = (Number(usd.amountOut) / Number(usd.amountIn) - 1) * 100;
	const number = new Intl.NumberFormat(locale(), { maximumFractionDigits: 2, signDisplay: "exceptZero" }).format(change);
	return `${number} %`;
}
