import { expect, test } from "vitest";
import { part, sizeOf } from "./TokenAmount";

test.each([
	["", ""],
	["1234567890", ""],
	["12345678901", "long"],
	["12345678901234", "longer"],
	["123456789012.123456", "longest"],
])("%j is set %j", (amount, size) => {
	expect(sizeOf(amount)).toBe(size);
});

test("a part of an amount is cut off, never rounded up, and exact beyond what a float holds", () => {
	expect(part("3", 50)).toBe("1");
	expect(part("100000000000000000000000000000000000003", 25)).toBe("25000000000000000000000000000000000000");
	expect(part("0", 25)).toBe("0");
});
