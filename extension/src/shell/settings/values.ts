import type { MessageKey } from "../../i18n/keys";
import type { SetParams, Setting } from "../../wire/protocol";

/** A Value as it is given to settings.set. */
export type Value = Pick<SetParams, "value" | "values">;

/** A draft of a setting is what its field holds while it is changed, always text. */
export interface Kind {
	/** draftOf is what the field begins with. */
	draftOf(setting: Setting): string;
	/** read turns a draft into a value; a message where it is none. */
	read(draft: string, setting: Setting): Value | MessageKey;
}

const whole: Kind["read"] = (draft) => ({ value: draft.trim() });

/** The kinds of settings. What a value may be is the daemon's to say; here only what
 * is no value at all, or outside the bounds that it told, is noticed. */
export const kinds: Readonly<Record<Setting["type"], Kind>> = {
	percent: { draftOf: (s) => s.value, read: (draft, s) => within(draft.trim().replace(",", "."), s, /^\d{1,3}(\.\d{1,2})?$/) },
	number: { draftOf: (s) => s.value, read: (draft, s) => within(draft.trim(), s, /^\d+$/) },
	duration: { draftOf: (s) => minutes(s.value), read: readDuration },
	switch: { draftOf: (s) => s.value, read: whole },
	choice: { draftOf: (s) => s.value, read: whole },
	text: { draftOf: (s) => s.value, read: whole },
	// Only its host is shown of a URL: it has to be typed anew.
	url: { draftOf: () => "", read: (draft) => (isURL(draft.trim()) ? { value: draft.trim() } : "settings_no_url") },
	urls: { draftOf: () => "", read: readURLs },
};

/** mostOf is the highest value that is taken of a browser. */
const mostOf = ({ max, terminalAbove }: Setting) => terminalAbove ?? max;

function within(text: string, setting: Setting, form: RegExp): Value | MessageKey {
	if (!form.test(text)) return "settings_no_number";
	const { min } = setting;
	const max = mostOf(setting);
	const value = Number(text);
	const out = (min !== undefined && value < Number(min)) || (max !== undefined && value > Number(max));
	return out ? "settings_out_of_bounds" : { value: text };
}

const units: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1 };

/** secondsOf reads a duration as Go writes it: "15m0s", "24h0m0s". */
export function secondsOf(duration: string): number {
	return [...duration.matchAll(/([\d.]+)([hms])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * (units[unit!] ?? 0), 0);
}

const minutes = (duration: string) => String(Math.round((secondsOf(duration) / 60) * 100) / 100);

function readDuration(draft: string, { min, max }: Setting): Value | MessageKey {
	const text = draft.trim().replace(",", ".");
	if (!/^\d{1,5}(\.\d{1,2})?$/.test(text)) return "settings_no_number";
	const seconds = Math.round(Number(text) * 60);
	const out = (min !== undefined && seconds < secondsOf(min)) || (max !== undefined && seconds > secondsOf(max));
	return out ? "settings_out_of_bounds" : { value: `${seconds}s` };
}

/** Most URLs of a list. */
const mostURLs = 8;

function readURLs(draft: string): Value | MessageKey {
	const values = draft.split(/\s+/).filter(Boolean);
	if (values.length === 0 || !values.every(isURL)) return "settings_no_url";
	return values.length > mostURLs ? "settings_too_many_urls" : { values };
}

function isURL(text: string): boolean {
	return /^https?:\/\/[^\s]+$/.test(text) && URL.canParse(text);
}

/** boundsOf are a setting's bounds as its field counts. */
export function boundsOf(setting: Setting): [min: string, max: string] | undefined {
	const { min, type } = setting;
	const max = mostOf(setting);
	if (min === undefined || max === undefined) return undefined;
	return type === "duration" ? [minutes(min), minutes(max)] : [min, max];
}

/** asksPassword tells whether giving a setting that value takes the password, each time. */
export function asksPassword(setting: Setting, value: string | undefined): boolean {
	const { right, type, passwordAbove: bound, choices = [] } = setting;
	if (right === "password") return true;
	if (bound === undefined || value === undefined) return false;
	if (type === "choice") return choices.indexOf(value) < choices.indexOf(bound); // the first says most
	return type === "duration" ? secondsOf(value) > secondsOf(bound) : Number(value) > Number(bound);
}

/** inverted: the key says what is off, and the switch what is on. */
export function inverted(key: string): boolean {
	return key.endsWith("disabled");
}

/** isOn is what a switch shows. */
export function isOn({ key, value }: Pick<Setting, "key" | "value">): boolean {
	return (value === "true") !== inverted(key);
}
