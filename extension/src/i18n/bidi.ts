// Characters of right-to-left scripts.
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** isolateBidi wraps a text from outside in bidi isolates if it has right-to-left characters.
 * Otherwise such a token symbol would move the figures after it to its other side. */
export function isolateBidi(text: string): string {
	return rightToLeft.test(text) ? `\u2068${text}\u2069` : text;
}
