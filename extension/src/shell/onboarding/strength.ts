/** An estimate of how hard a password is to guess, for a meter. The daemon decides: it also
 * knows common passwords. */
export type Strength = "short" | "weak" | "fair" | "strong";

/** The daemon's minimum, in characters. */
export const minPassword = 10;

/** Estimated bits per character that does not follow from the one before. */
const bits: readonly { of: RegExp; bits: number }[] = [
	{ of: /\s/, bits: 1 },
	{ of: /\d/, bits: 3.3 },
	{ of: /[a-z]/, bits: 3.5 },
	{ of: /[A-Z]/, bits: 4.5 },
	{ of: /[\x20-\x7e]/, bits: 5 },
];

/** For a character beyond ASCII. */
const otherBits = 7;

/** For a character that continues a run or repeats. */
const nextBits = 0.5;

/** Limit per distinct character: a password of few different characters is weak at any length. */
const distinctBits = 7;

const runs = ["abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "asdfghjkl", "zxcvbnm"];

const levels: readonly { below: number; is: Strength }[] = [
	{ below: 35, is: "weak" },
	{ below: 50, is: "fair" },
];

export function strength(password: string): Strength {
	const characters = [...password];
	if (characters.length < minPassword) return "short";
	const sum = characters.reduce((total, c, i) => total + (i > 0 && follows(characters[i - 1]!, c) ? nextBits : bitsOf(c)), 0);
	const guess = Math.min(sum, new Set(characters).size * distinctBits);
	return levels.find((l) => guess < l.below)?.is ?? "strong";
}

function bitsOf(character: string): number {
	return bits.find((b) => b.of.test(character))?.bits ?? otherBits;
}

/** follows reports whether b repeats a or is next to it in the alphabet, the digits or a
 * keyboard row. */
function follows(a: string, b: string): boolean {
	const [x, y] = [a.toLowerCase(), b.toLowerCase()];
	if (x === y) return true;
	return runs.some((run) => run.includes(x) && run.includes(y) && Math.abs(run.indexOf(x) - run.indexOf(y)) === 1);
}
