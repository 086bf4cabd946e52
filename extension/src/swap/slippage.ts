import type { MessageKey } from "../i18n/keys";

/** Most slippage that the daemon takes of a browser, in percent, and above which it asks
 * for the password of each swap. */
export const mostSlippage = 15;
export const passwordSlippage = 5;

/** Slippage is a percent s with 0 < s <= 15 and two decimals at most, as the daemon
 * takes it of a browser. */
export function readSlippage(typed: string): number | undefined {
	if (!/^(?:\d{1,2}(?:[.,]\d{0,2})?|[.,]\d{1,2})$/.test(typed.trim())) return undefined;
	const value = Number(typed.trim().replace(",", "."));
	return value > 0 && value <= mostSlippage ? value : undefined;
}

/** slippageWarning is what may come of a value that is allowed and unusual. */
export function slippageWarning(percent: number): MessageKey | undefined {
	if (percent < 0.1) return "slippage_low";
	if (percent > passwordSlippage) return "slippage_high";
	return undefined;
}
