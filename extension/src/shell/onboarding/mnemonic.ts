/** How many words a mnemonic has. */
export const wordCounts: readonly number[] = [12, 15, 18, 21, 24];

/** wordsOf splits what a person typed or what came from the daemon. */
export function wordsOf(text: string): string[] {
	return text.toLowerCase().split(/\s+/).filter(Boolean);
}

/** drawPlaces draws `count` different places of 0…length-1, in order, to be asked
 * for. `random` gives numbers of 0 up to, not including, 1. */
export function drawPlaces(length: number, count: number, random: () => number = Math.random): number[] {
	const places = Array.from({ length }, (_, i) => i);
	const drawn = Array.from({ length: Math.min(count, length) }, () => places.splice(Math.floor(random() * places.length), 1)[0]!);
	return drawn.sort((a, b) => a - b);
}

/** wrongPlaces are those of the places whose typed word is not the one there. */
export function wrongPlaces(words: readonly string[], places: readonly number[], typed: readonly string[]): number[] {
	return places.filter((place, i) => typed[i]?.trim().toLowerCase() !== words[place]);
}
