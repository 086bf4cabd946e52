import { numbers } from "../i18n/formats";
import { shortAddress } from "../components/address";
import { isolated } from "../i18n/isolated";
import { exactAmount, shownAmount } from "./amount";

/** What an amount is of, as far as it is known. */
export interface Unit {
	symbol: string;
	decimals: number;
}

// An amount and its symbol stay together where a line ends.
const joint = "\u00a0";

/** spelled writes an amount with all its digits, grouped as the language does. */
export function spelled(units: string, { symbol, decimals }: Unit, locale?: string): string {
	const [whole = "0", fraction] = exactAmount(units, decimals).split(".");
	// The language's own signs around digits that no format may cut off.
	const parts = numbers(locale, fraction ? { minimumFractionDigits: 1 } : {}).formatToParts(BigInt(whole));
	return `${parts.map((p) => (p.type === "fraction" ? fraction : p.value)).join("")}${joint}${isolated(symbol)}`;
}

/** shown writes an amount for a glance: six decimals, cut off. */
export function shown(units: string, { symbol, decimals }: Unit, locale?: string): string {
	return `${shownAmount(units, decimals, 6, locale)}${joint}${isolated(symbol)}`;
}

/** raw writes an amount of a token of which nothing is known. `words` says "base
 * units of", with $1 the digits and $2 the token's address. */
export function raw(units: string, address: string, words: (digits: string, token: string) => string, locale?: string): string {
	return words(numbers(locale).format(BigInt(units)), shortAddress(address));
}
