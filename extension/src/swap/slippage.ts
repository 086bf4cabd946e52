import type { MessageKey } from "../i18n/keys";

/** Slippage is a percent s with 0 < s <= 50 and two decimals at most, as the daemon
 * takes it. */
export function readSlippage(typed: string): number | undefined {
	if (!/^(?:\d{1,2}(?:[.,]\d{0,2})?|[.,]\d{1,2})$/.test(typed.trim())) return undefined;
	const value = Number(typed.trim().replace(",", "."));
	return value > 0 && value <= 50 ? value : undefined;
}

/** slippageWarning is what may come of a value that is allowed and unusual. */
export function slippageWarning(percent: number): MessageKey | undefined {
	if (percent < 0.1) return "slippage_low";
	if (percent > 5) return "slippage_high";
	return undefined;
}
