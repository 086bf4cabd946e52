import { exactAmount, displayAmount } from "./amount";

/** compactAmount formats a balance for narrow places: no decimals from a million on, and ">" for
 * a trillion or more. It never shows more than there is. */
export function compactAmount(units: string, decimals: number, locale?: string): string {
	const digits = exactAmount(units, decimals).split(".")[0]!.length;
	if (digits > 12) return `>${displayAmount(`1${"0".repeat(12)}`, 0, 0, locale)}`;
	return displayAmount(units, decimals, digits > 6 ? 0 : 5, locale);
}
