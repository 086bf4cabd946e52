import { numbers } from "../i18n/formats";
import { locale } from "../i18n/t";

/** percent formats a number of percent, with at most two decimals unless options say otherwise. */
export function percent(value: number, options: Intl.NumberFormatOptions = {}): string {
	return `${numbers(locale(), { maximumFractionDigits: 2, ...options }).format(value)} %`;
}

/** bpsAsPercent formats basis points as percent: 45 becomes "0.45 %". */
export const bpsAsPercent = (bps: number): string => percent(bps / 100);
