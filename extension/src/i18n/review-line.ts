import type { Arg, Line } from "../wire/protocol";
import { brandOf } from "./provider-name";
import { optionalMessage, t, textLanguageTag } from "./t";

/** reviewLine returns the text of a line of a review, which the terminal and dialogs show with the
 * same words. A line of a newer daemon is shown by its key. */
export function reviewLine({ key, args }: Line): string {
	const values = (args ?? []).map(text);
	return optionalMessage(key, ...values) ?? [key, ...values].join(" ");
}

function text({ kind, value, unit = "" }: Arg): string {
	switch (kind) {
		case "number": // in full and not grouped, as in the dialogs
			return `${textLanguageTag() === "de" ? value.replace(".", ",") : value} ${unit}`.trim();
		case "units":
			return t("line_base_units", value, unit);
		case "word":
			return word(value);
		default:
			return value;
	}
}

function word(key: string): string {
	if (key.startsWith("brand_")) return brandOf(key.slice("brand_".length)) ?? key.slice("brand_".length);
	const text = optionalMessage(key);
	if (text === undefined) return key;
	return key.startsWith("err_") ? text.replace(/\.$/, "").split(". ")[0]! : text; // the second sentence is about signatures
}
