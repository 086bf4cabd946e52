import type { MessageKey } from "./keys";

export type { MessageKey } from "./keys";

let chosen: Record<string, { message: string }> | undefined;
let language = "en";

/** Languages that there are messages for, by their own name. */
export const languages: Readonly<Record<string, string>> = { en: "English", de: "Deutsch" };

/** speak has all texts in one language; "" is the browser's. It reads that
 * language's messages, and is called before anything is drawn. */
export async function speak(wanted: string): Promise<void> {
	chosen = undefined;
	language = wanted || chrome.i18n.getUILanguage();
	if (wanted && Object.hasOwn(languages, wanted)) {
		const file = await fetch(chrome.runtime.getURL(`_locales/${wanted}/messages.json`));
		chosen = (await file.json()) as typeof chosen;
	}
	document.documentElement.lang = wanted || chrome.i18n.getMessage("app_language") || "en";
}

/** locale is for numbers and dates. */
export function locale(): string {
	return language;
}

/** t is a message, with $1 to $9 replaced. */
export function t(key: MessageKey, ...values: (string | number)[]): string {
	const texts = values.map(String);
	if (!chosen) return chrome.i18n.getMessage(key, texts) || key;
	return fill(chosen[key]?.message ?? key, texts);
}

/** known is a message of a key that is made of data, such as an error's name; undefined
 * where there is none. */
export function known(key: string, ...values: (string | number)[]): string | undefined {
	const text = t(key as MessageKey, ...values);
	return text === key ? undefined : text;
}

function fill(message: string, texts: readonly string[]): string {
	return message.replace(/\$(\$|[1-9])/g, (_, n: string) => (n === "$" ? "$" : (texts[Number(n) - 1] ?? "")));
}
