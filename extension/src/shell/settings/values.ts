import type { MessageKey } from "../../i18n/keys";
import type { SetParams, Setting } from "../../wire/protocol";

/** A Value is what settings.set takes. */
export type Value = Pick<SetParams, "value" | "values">;

/** A Kind converts between a setting's value and the draft: the text in its field while it
 * is edited. */
export interface Kind {
	/** draftOf returns the initial text of the field. */
	draftOf(setting: Setting): string;
	/** read parses a draft; it returns an error message if that is not a value. */
	read(draft: string, setting: Setting): Value | MessageKey;
}

const whole: Kind["read"] = (draft) => ({ value: draft.trim() });

/** The kinds by type. The daemon validates values; only malformed ones and those outside
 * its bounds are detected here. */
export const kinds: Readonly<Record<Setting["type"], Kind>> = {
	percent: { draftOf: (s) => s.value, read: (draft, s) => within(draft.trim().replace(",", "."), s, /^\d{1,3}(\.\d{1,2})?$/) },
	number: { draftOf: (s) => s.value, read: (draft, s) => within(draft.trim(), s, /^\d+$/) },
	duration: { draftOf: (s) => minutes(s.value), read: readDuration },
	switch: { draftOf: (s) => s.value, read: whole },
	choice: { draftOf: (s) => s.value, read: whole },
	text: { draftOf: (s) => s.value, read: whole },
	// The daemon shows only the host of a URL, so it has to be typed again.
	url: { draftOf: () => "", read: (draft) => (isURL(draft.trim()) ? { value: draft.trim() } : "settings_no_url") },
	urls: { draftOf: () => "", read: readURLs },
};

/** browserMax returns the highest value that a browser may set. */
const browserMax = ({ max, terminalAbove }: Setting) => terminalAbove ?? max;

function within(text: string, setting: Setting, form: RegExp): Value | MessageKey {
	if (!form.test(text)) return "settings_no_number";
	const { min } = setting;
	const max = browserMax(setting);
	const value = Number(text);
	const out = (min !== undefined && value < Number(min)) || (max !== undefined && value > Number(max));
	return out ? "settings_out_of_bounds" : { value: text };
}

const units: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };

/** secondsOf parses a duration in Go's format: "15m0s", "24h0m0s". */
export function secondsOf(duration: string): number {
	return [...duration.matchAll(/([\d.]+)([hms])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * (units[unit!] ?? 0), 0);
}

const minutes = (duration: string) => String(Math.round((secondsOf(duration) / 60) * 100) / 100);

function readDuration(draft: string, setting: Setting): Value | MessageKey {
	const { min } = setting;
	const max = browserMax(setting);
	const text = draft.trim().replace(",", ".");
	if (!/^\d{1,5}(\.\d{1,2})?$/.test(text)) return "settings_no_number";
	const seconds = Math.round(Number(text) * 60);
	const out = (min !== undefined && seconds < secondsOf(min)) || (max !== undefined && seconds > secondsOf(max));
	return out ? "settings_out_of_bounds" : { value: `${seconds}s` };
}

/** Maximum number of URLs in a list. */
const mostURLs = 8;

function readURLs(draft: string): Value | MessageKey {
	const values = draft.split(/\s+/).filter(Boolean);
	if (values.length === 0 || !values.every(isURL)) return "settings_no_url";
	return values.length > mostURLs ? "settings_too_many_urls" : { values };
}

function isURL(text: string): boolean {
	return /^https?:\/\/[^\s]+$/.test(text) && URL.canParse(text);
}

/** boundsOf returns a setting's bounds in the unit of its field. */
export function boundsOf(setting: Setting): [min: string, max: string] | undefined {
	const { min, type } = setting;
	const max = browserMax(setting);
	if (min === undefined || max === undefined) return undefined;
	return type === "duration" ? [minutes(min), minutes(max)] : [min, max];
}

/** asksPassword reports whether setting this value takes the password, each time. */
export function asksPassword(setting: Setting, value: string | undefined): boolean {
	const { requires, type, passwordAbove: bound, choices = [] } = setting;
	if (requires === "password") return true;
	if (bound === undefined || value === undefined) return false;
	if (type === "choice") return choices.indexOf(value) < choices.indexOf(bound); // the first choice reveals most
	return type === "duration" ? secondsOf(value) > secondsOf(bound) : Number(value) > Number(bound);
}

/** inverted reports whether "true" means off, as in "disabled" keys. */
export function inverted(key: string): boolean {
	return key.endsWith("disabled");
}

/** isOn returns whether a setting's switch is on. */
export function isOn({ key, value }: Pick<Setting, "key" | "value">): boolean {
	return (value === "true") !== inverted(key);
}
