import type { MessageKey } from "../i18n/keys";

/** The highest slippage that the daemon accepts from a browser, in percent, and the value
 * above which it asks for the password for each swap. */
export const mostSlippage = 15;
export const passwordSlippage = 5;

/** readSlippage parses a percentage above 0 and up to 15, with at most two decimals, as the
 * daemon accepts it from a browser; undefined otherwise. */
export function readSlippage(typed: string): number | undefined {
	if (!/^(?:\d{1,2}(?:[.,]\d{0,2})?|[.,]\d{1,2})$/.test(typed.trim())) return undefined;
	const value = Number(typed.trim().replace(",", "."));
	return value > 0 && value <= mostSlippage ? value : undefined;
}

/** slippageWarning returns the warning for a value that is allowed but unusual. */
export function slippageWarning(percent: number): MessageKey | undefined {
	if (percent < 0.1) return "slippage_low";
	if (percent > passwordSlippage) return "slippage_high";
	return undefined;
}
