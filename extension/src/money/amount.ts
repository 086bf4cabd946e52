// Amounts are decimal strings of base units, as on the wire. Arithmetic uses integers only:
// with floats the displayed amount could differ from the signed one.

import { numbers } from "../i18n/formats";

/** parseAmount converts an amount typed in whole tokens to base units. It returns undefined
 * for what is not a number, has more decimals than the token, or may have thousands
 * separators. Both "." and "," are accepted as decimal separator, since people type either. */
export function parseAmount(typed: string, decimals: number, locale?: string): string | undefined {
	const match = /^(\d*)(?:[.,](\d*))?$/.exec(typed.trim());
	if (!match || (!match[1] && !match[2]) || maybeThousands(typed, locale)) return undefined;
	const fraction = match[2] ?? "";
	if (fraction.length > decimals) return undefined;
	const units = BigInt((match[1] || "0") + fraction.padEnd(decimals, "0"));
	return units < 2n ** 256n ? units.toString() : undefined;
}

/** maybeThousands reports whether an input has, or may have, thousands separators: "1,000" is one
 * to some and a thousand to others, so it is refused rather than guessed. */
export function maybeThousands(typed: string, locale?: string): boolean {
	const text = typed.trim();
	if (/^\d*[.,]\d*$/.test(text)) return !text.includes(separator(locale)) && /^0*[1-9]\d*[.,]\d{3}$/.test(text);
	return /^\d{1,3}(?:[.,'’\s]\d{3})+(?:[.,]\d*)?$/.test(text);
}

/** separator returns the decimal separator of a language. */
function separator(locale?: string): "." | "," {
	return point(locale) === "," ? "," : ".";
}

/** inputAmount formats base units the way a person would type them. */
export function inputAmount(units: string, decimals: number, locale?: string): string {
	return exactAmount(units, decimals).replace(".", separator(locale));
}

/** exactAmount formats base units in whole tokens with all digits: "1.5", "0.000001". */
export function exactAmount(units: string, decimals: number): string {
	const digits = units.padStart(decimals + 1, "0");
	const whole = digits.slice(0, digits.length - decimals);
	const fraction = digits.slice(digits.length - decimals).replace(/0+$/, "");
	return fraction ? `${whole}.${fraction}` : whole;
}

/** displayAmount formats base units for reading: grouped thousands and at most `places`
 * decimals (below one, significant decimals, six at most). It rounds down, so it never
 * shows more than there is; a tiny amount becomes "<0.000000001". */
export function displayAmount(units: string, decimals: number, places = 6, locale?: string): string {
	const exact = exactAmount(units, decimals);
	const [whole = "0", fraction = ""] = exact.split(".");
	const keep = whole === "0" ? leadingZeros(fraction) + Math.min(places, 6) : places;
	const cut = fraction.slice(0, Math.min(keep, 18)).replace(/0+$/, "");
	if (whole === "0" && leadingZeros(fraction) >= 9) return `<${separated("0", "000000001", locale)}`;
	return separated(whole, cut, locale);
}

function leadingZeros(fraction: string): number {
	return /^0*/.exec(fraction)![0].length;
}

function separated(whole: string, fraction: string, locale?: string): string {
	const grouped = numbers(locale).format(BigInt(whole));
	return fraction ? grouped + point(locale) + fraction : grouped;
}

function point(locale?: string): string {
	return numbers(locale).formatToParts(1.5).find((p) => p.type === "decimal")?.value ?? ".";
}

/** formatUSD formats a decimal string of US dollars for reading. */
export function formatUSD(usd: string, locale?: string): string {
	const value = Number(usd);
	const small = Math.abs(value) > 0 && Math.abs(value) < 0.01;
	const places = small ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
	return numbers(locale, { style: "currency", currency: "USD", ...places }).format(value);
}

/** formatCost is formatUSD of something that costs more than nothing, of which the daemon says cents:
 * what is below one of them is not called free. */
export function formatCost(usd: string, locale?: string): string {
	return Number(usd) < 0.01 ? `<${formatUSD("0.01", locale)}` : formatUSD(usd, locale);
}

/** exchangeRate formats how much of `out` one `in` is worth; "–" if amountIn is zero. */
export function exchangeRate(amountIn: string, decimalsIn: number, amountOut: string, decimalsOut: number, locale?: string): string {
	if (BigInt(amountIn) === 0n) return "–";
	const scaled = (BigInt(amountOut) * 10n ** BigInt(decimalsIn + 12)) / (BigInt(amountIn) * 10n ** BigInt(decimalsOut));
	return displayAmount(scaled.toString(), 12, 6, locale);
}
