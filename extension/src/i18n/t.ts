import { isolated } from "./isolated";
import type { MessageKey } from "./keys";

export type { MessageKey } from "./keys";

let texts: Record<string, { message: string }> = {};
let language = "en";
let spoken = "en";

/** Languages that there are messages for, by their own name. */
export const languages: Readonly<Record<string, string>> = { en: "English", de: "Deutsch" };

/** speak has all texts in one language; "" is the browser's. It reads that
 * language's messages, and is called before anything is drawn. The browser's own way
 * knows no other language than its own, and complains of keys that it lacks. */
export async function speak(wanted: string): Promise<void> {
	language = tagged(wanted || chrome.i18n.getUILanguage());
	spoken = [language, language.split("-")[0]!, "en"].find((l) => Object.hasOwn(languages, l))!;
	const file = await fetch(chrome.runtime.getURL(`_locales/${spoken}/messages.json`));
	texts = (await file.json()) as typeof texts;
	document.documentElement.lang = spoken;
}

/** What is no language tag would have every number and date throw. */
function tagged(wanted: string): string {
	try {
		return Intl.getCanonicalLocales(wanted)[0] ?? "en";
	} catch {
		return "en";
	}
}

/** locale is for numbers and dates. */
export function locale(): string {
	return language;
}

/** english is whether texts are in the language that the daemon's own words are in. */
export function english(): boolean {
	return spoken === "en";
}

/** t is a message, with $1 to $9 replaced. */
export function t(key: MessageKey, ...values: (string | number)[]): string {
	return known(key, ...values) ?? key;
}

/** known is a message of a key that is made of data, such as an error's name; undefined
 * where there is none. */
export function known(key: string, ...values: (string | number)[]): string | undefined {
	const message = Object.hasOwn(texts, key) ? texts[key]?.message : undefined;
	return message === undefined ? undefined : fill(message, values.map((value) => isolated(String(value))));
}

function fill(message: string, values: readonly string[]): string {
	return message.replace(/\$(\$|[1-9])/g, (_, n: string) => (n === "$" ? "$" : (values[Number(n) - 1] ?? "")));
}
