import table from "../../messages/values.json";
import { optionalMessage } from "./t";

/** For the placeholders $1 to $9 of a message, the key of the data that fills it, the form in which
 * it is shown and, for some forms, the key of data that goes with it: for "amount" the token's
 * address; for "worth" the same in dollars, which may be missing. The terminal reads the same
 * table. A message that is not here has none. */
const valuesOf: Readonly<Record<string, readonly (readonly string[])[]>> = table;

/** The forms whose values are digits. */
const figures: readonly string[] = ["tokenIn", "tokenOut", "coin", "amount", "worth", "basisPoints"];

/** Formatters put values into words, by form; undefined for what they cannot. */
export type Formatters = Readonly<Record<string, (value: string, goesWith: string | undefined) => string | undefined>>;

/** filled returns a message with the values of data that it needs; undefined if there is no such
 * message, or a value is missing or has no words. */
export function filled(key: string, data: Readonly<Record<string, string | undefined>>, formatters: Formatters): string | undefined {
	const values: string[] = [];
	for (const [name = "", form = "", beside = ""] of Object.hasOwn(valuesOf, key) ? valuesOf[key]! : []) {
		const value = data[name] ?? "";
		const words = form === "text" ? value : (!figures.includes(form) || /^\d+$/.test(value)) && value && formatters[form]?.(value, data[beside]);
		if (!words) return undefined;
		values.push(words);
	}
	return optionalMessage(key, ...values);
}
