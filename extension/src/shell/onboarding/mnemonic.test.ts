import { describe, expect, it } from "vitest";
import { drawPlaces, wordsOf, wrongPlaces } from "./mnemonic";

// The published test mnemonic, without value.
const words = wordsOf("  Test test\ttest test test test\ntest test test test test junk ");

describe("words", () => {
	it("are split at any white space, in lower case", () => {
		expect(words).toHaveLength(12);
		expect(words[0]).toBe("test");
	});
	it("are asked for at different places, in order", () => {
		for (const random of [() => 0, () => 0.999999, Math.random]) {
			const places = drawPlaces(12, 3, random);
			expect(new Set(places).size).toBe(3);
			expect(places).toEqual([...places].sort((a, b) => a - b));
			expect(places.every((p) => p >= 0 && p < 12)).toBe(true);
		}
		expect(drawPlaces(2, 3)).toEqual([0, 1]);
	});
	it("are compared place by place, whatever the case", () => {
		expect(wrongPlaces(words, [0, 5, 11], ["test", " TEST ", "Junk"])).toEqual([]);
		expect(wrongPlaces(words, [0, 5, 11], ["junk", "test", ""])).toEqual([0, 11]);
	});
});
