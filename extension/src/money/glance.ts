import { exactAmount, shownAmount } from "./amount";

/** glanced writes a balance in little room: of much there are no decimals, of millions
 * of millions only how many digits they have. Never more than there is. */
export function glanced(units: string, decimals: number, locale?: string): string {
	const digits = exactAmount(units, decimals).split(".")[0]!.length;
	if (digits > 12) return `>${shownAmount(`1${"0".repeat(12)}`, 0, 0, locale)}`;
	return shownAmount(units, decimals, digits > 6 ? 0 : 5, locale);
}
