/** The word counts that a mnemonic may have. */
export const wordCounts: readonly number[] = [12, 15, 18, 21, 24];

/** wordsOf splits a mnemonic into lower-case words. */
export function wordsOf(text: string): string[] {
	return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/** drawPlaces draws `count` different indexes below `length`, sorted. `random` returns
 * numbers from 0 up to, but not including, 1. */
export function drawPlaces(length: number, count: number, random: () => number = Math.random): number[] {
	const places = Array.from({ length }, (_, i) => i);
	const drawn = Array.from({ length: Math.min(count, length) }, () => places.splice(Math.floor(random() * places.length), 1)[0]!);
	return drawn.sort((a, b) => a - b);
}

/** wrongPlaces returns the places where the typed word differs. */
export function wrongPlaces(words: readonly string[], places: readonly number[], typed: readonly string[]): number[] {
	return places.filter((place, i) => typed[i]?.trim().toLowerCase() !== words[place]);
}
