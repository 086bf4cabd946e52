import { expect, test } from "vitest";
import { compactAmount } from "./compact-amount";

test.each([
	["1234567890123456789", 18, "1.23456"],
	["1234567999999", 6, "1,234,567"],
	["999999999999999999", 6, "999,999,999,999"],
	["9".repeat(60), 18, ">1,000,000,000,000"],
	["0", 18, "0"],
])("%s of %i decimals reads %s", (units, decimals, text) => {
	expect(compactAmount(units, decimals, "en")).toBe(text);
});
