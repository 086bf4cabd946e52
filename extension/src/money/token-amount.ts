import { numbers } from "../i18n/formats";
import { shortAddress } from "../components/address";
import { isolateBidi } from "../i18n/bidi";
import { exactAmount, displayAmount } from "./amount";

/** A token's symbol and decimals. */
export interface Unit {
	symbol: string;
	decimals: number;
}

// No line break between an amount and its symbol.
const joint = "\u00a0";

/** fullAmount formats an amount with all its digits, grouped as the language does. */
export function fullAmount(units: string, { symbol, decimals }: Unit, locale?: string): string {
	const [whole = "0", fraction] = exactAmount(units, decimals).split(".");
	// Formats the integer with the language's separators; Intl would round the fraction, so
	// it is inserted as it is.
	const parts = numbers(locale, fraction ? { minimumFractionDigits: 1 } : {}).formatToParts(BigInt(whole));
	return `${parts.map((p) => (p.type === "fraction" ? fraction : p.value)).join("")}${joint}${isolateBidi(symbol)}`;
}

/** shortAmount formats an amount for a quick look: six decimals, rounded down. */
export function shortAmount(units: string, { symbol, decimals }: Unit, locale?: string): string {
	return `${displayAmount(units, decimals, 6, locale)}${joint}${isolateBidi(symbol)}`;
}

/** rawAmount formats an amount of an unknown token. `words` builds the text from the digits (base
 * units) and the short address. */
export function rawAmount(units: string, address: string, words: (digits: string, token: string) => string, locale?: string): string {
	return words(numbers(locale).format(BigInt(units)), shortAddress(address));
}
