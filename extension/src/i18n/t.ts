import { isolateBidi } from "./bidi";
import type { MessageKey } from "./keys";

export type { MessageKey } from "./keys";

let texts: Record<string, { message: string }> = {};
let language = "en";
let textLanguage = "en";

/** The languages that have messages, by their own name. */
export const languages: Readonly<Record<string, string>> = { en: "English", de: "Deutsch" };

/** loadLanguage loads the messages of a language ("" for the browser's) and must finish before
 * anything is drawn. chrome.i18n is not used: it knows only the browser's language, and
 * reports missing keys as errors. */
export async function loadLanguage(wanted: string): Promise<void> {
	language = languageTag(wanted || chrome.i18n.getUILanguage());
	textLanguage = [language, language.split("-")[0]!, "en"].find((l) => Object.hasOwn(languages, l))!;
	const file = await fetch(chrome.runtime.getURL(`_locales/${textLanguage}/messages.json`));
	texts = (await file.json()) as typeof texts;
	document.documentElement.lang = textLanguage;
}

/** languageTag returns a valid language tag; an invalid one would make every number and date
 * formatter throw. */
function languageTag(wanted: string): string {
	try {
		return Intl.getCanonicalLocales(wanted)[0] ?? "en";
	} catch {
		return "en";
	}
}

/** locale returns the language tag for numbers and dates. */
export function locale(): string {
	return language;
}

/** textLanguageTag returns the language of the texts. */
export function textLanguageTag(): string {
	return textLanguage;
}

/** textsAreEnglish reports whether the texts are English, as the daemon's own texts are. */
export function textsAreEnglish(): boolean {
	return textLanguage === "en";
}

/** t returns a message with $1 to $9 replaced by the values. */
export function t(key: MessageKey, ...values: (string | number)[]): string {
	return optionalMessage(key, ...values) ?? key;
}

/** optionalMessage is t for a key built from data, such as an error's name; undefined if
 * there is no such message. */
export function optionalMessage(key: string, ...values: (string | number)[]): string | undefined {
	const message = Object.hasOwn(texts, key) ? texts[key]?.message : undefined;
	return message === undefined ? undefined : fill(message, values.map((value) => isolateBidi(String(value))));
}

function fill(message: string, values: readonly string[]): string {
	return message.replace(/\$(\$|[1-9])/g, (_, n: string) => (n === "$" ? "$" : (values[Number(n) - 1] ?? "")));
}
