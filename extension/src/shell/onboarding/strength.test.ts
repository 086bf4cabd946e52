import { describe, expect, it } from "vitest";
import { type Strength, strength } from "./strength";

describe("strength", () => {
	const cases: [string, Strength][] = [
		["", "short"],
		["Xk3$mP9!z", "short"], // nine characters
		["aaaaaaaaaaaaaaaaaaaa", "weak"],
		["1234567890", "weak"],
		["abababababababab", "weak"],
		["qwertyuiopasdfgh", "weak"],
		["correcthorse", "weak"],
		["correct horses", "fair"],
		["five broken umbrellas in May", "strong"],
		["Xk3$mP9!zQw7&d", "strong"],
		["äöüßéèêôûîçñ", "strong"],
	];
	it.each(cases)("of %j is %s", (password, want) => expect(strength(password)).toBe(want));
});
