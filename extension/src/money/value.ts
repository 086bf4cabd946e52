/** valueUSD returns the value of base units of a token in dollars, as a decimal string with
 * six decimals, rounded down. `price` is per whole token. */
export function valueUSD(units: string, decimals: number, price: string): string {
	const [whole = "0", fraction = ""] = price.split(".");
	const scaled = (BigInt(units) * BigInt(whole + fraction) * 10n ** 6n) / 10n ** BigInt(decimals + fraction.length);
	return micros(scaled);
}

function micros(scaled: bigint): string {
	const digits = scaled.toString().padStart(7, "0");
	return `${digits.slice(0, -6)}.${digits.slice(-6)}`;
}

/** compareValue sorts higher values first and unpriced ones last. */
export function compareValue(a: string | undefined, b: string | undefined): number {
	if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
	const [x, y] = [BigInt(a.replace(".", "")), BigInt(b.replace(".", ""))];
	return x > y ? -1 : x < y ? 1 : 0;
}

/** sumUSD adds up values returned by valueUSD. */
export function sumUSD(amounts: readonly string[]): string {
	return micros(amounts.reduce((all, amount) => all + BigInt(amount.replace(".", "")), 0n));
}
