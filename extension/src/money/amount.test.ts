import { describe, expect, it } from "vitest";
import { formatCost, formatUSD, exactAmount, maybeThousands, parseAmount, exchangeRate, displayAmount, inputAmount } from "./amount";

describe("parseAmount", () => {
	it.each([
		["1", 18, "1000000000000000000"], ["1.5", 6, "1500000"], ["1,5", 6, "1500000"], [".5", 6, "500000"], ["0.000001", 6, "1"], ["5.", 6, "5000000"],
		[" 2 ", 0, "2"], ["0", 6, "0"], ["123456789012345678901234567890", 18, "123456789012345678901234567890000000000000000000"],
	])("reads %s with %i decimals", (typed, decimals, units) => expect(parseAmount(typed, decimals)).toBe(units));
	it.each([["", 6], [".", 6], ["1e6", 6], ["-1", 6], ["0x10", 6], ["1.2.3", 6], ["1.0000001", 6], ["1 000", 6], ["9".repeat(80), 0]])(
		"refuses %s with %i decimals", (typed, decimals) => expect(parseAmount(typed, decimals)).toBeUndefined(),
	);
	// "1,000" is a thousand in some languages and one in others, so it is refused.
	it.each([["1,000", "en"], ["10,000", "en"], ["1000,000", "en"], ["1.000", "de"], ["1,000", "de-CH"], ["1,000.5", "en"], ["1.000,5", "de"], ["1,000,000", "en"], ["1 000", "fr"], ["1'000", "de-CH"]])(
		"refuses %s in %s, whose thousands may be set apart", (typed, locale) => {
			expect(parseAmount(typed, 6, locale)).toBeUndefined();
			expect(maybeThousands(typed, locale)).toBe(true);
		},
	);
	it.each([["1.000", "en"], ["1,000", "de"], ["0,123", "en"], ["0.123", "de"], ["1,5", "en"], ["1.5", "de"], ["1,0005", "en"], [".500", "de"], ["1000", "de"]])(
		"reads %s in %s", (typed, locale) => {
			expect(parseAmount(typed, 6, locale)).toBe(parseAmount(typed.replace(",", "."), 6, "en"));
			expect(maybeThousands(typed, locale)).toBe(false);
		},
	);
	it.each(["en", "de", "fr", "de-CH", "ar"])("reads what the form itself fills in, in %s", (locale) => {
		for (const units of ["1", "1000", "1234000", "1234567", "1000000000"]) expect(parseAmount(inputAmount(units, 6, locale), 6, locale)).toBe(units);
	});
});

describe("exactAmount", () => {
	it("is the inverse of parseAmount", () => {
		for (const units of ["0", "1", "999999", "1000000", "1000001", "123456789012345678901234567890"]) {
			for (const decimals of [0, 6, 18]) expect(parseAmount(exactAmount(units, decimals), decimals)).toBe(units);
		}
	});
});

describe("shownAmount", () => {
	it.each([
		["1234567891", 6, "1,234.567891"], ["2999999999999999999", 18, "2.999999"], ["1000000", 6, "1"], ["1234", 18, "<0.000000001"],
		["1234567890", 18, "0.00000000123456"], ["0", 18, "0"],
	])("%s of %i decimals is %s", (units, decimals, text) => expect(displayAmount(units, decimals, 6, "en")).toBe(text));
	it("never shows more than there is", () => expect(displayAmount("1999999999999999999", 18, 2, "en")).toBe("1.99"));
	it("separates as the language does", () => expect(displayAmount("1234500000", 6, 6, "de")).toBe("1.234,5"));
});

it("shows dollars", () => {
	expect(formatUSD("1234.5", "en")).toBe("$1,234.50");
	expect(formatUSD("0.000123", "en")).toBe("$0.00012");
});

it("calls no cost free", () => {
	expect(formatCost("0.00", "en")).toBe("<$0.01");
	expect(formatCost("0.00", "de")).toBe("<0,01\u00a0$");
	expect(formatCost("0.01", "en")).toBe("$0.01");
});

it("shows a rate", () => {
	expect(exchangeRate("1000000000000000000", 18, "3000000000", 6, "en")).toBe("3,000");
	expect(exchangeRate("0", 18, "1", 6, "en")).toBe("–");
});
