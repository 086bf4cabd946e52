// Letters that are written from right to left.
const turning = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/** isolated is a text from outside as it goes into one of ours: a token's symbol of such
 * letters would else have the figures after it change sides. */
export function isolated(text: string): string {
	return turning.test(text) ? `\u2068${text}\u2069` : text;
}
