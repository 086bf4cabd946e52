import { numbers } from "../i18n/formats";
import { locale } from "../i18n/t";

/** percent writes a number of percent, with two decimals at most. */
export function percent(value: number, options: Intl.NumberFormatOptions = {}): string {
	return `${numbers(locale(), { maximumFractionDigits: 2, ...options }).format(value)} %`;
}

/** ofBps writes basis points as percent: 45 is "0.45 %". */
export const ofBps = (bps: number): string => percent(bps / 100);
