import { expect, test } from "vitest";
import { percentOf, sizeClass } from "./TokenAmount";

test.each([
	["", ""],
	["1234567890", ""],
	["12345678901", "long"],
	["12345678901234", "longer"],
	["123456789012.123456", "longest"],
])("%j is set %j", (amount, size) => {
	expect(sizeClass(amount)).toBe(size);
});

test("a part of an amount is cut off, never rounded up, and exact beyond what a float holds", () => {
	expect(percentOf("3", 50)).toBe("1");
	expect(percentOf("100000000000000000000000000000000000003", 25)).toBe("25000000000000000000000000000000000000");
	expect(percentOf("0", 25)).toBe("0");
});
