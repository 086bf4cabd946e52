import { describe, expect, it, test } from "vitest";
import { compareValue, valueUSD, sumUSD } from "./value";

test.each([
	["1000000000000000000", 18, "3012.5", "3012.500000"],
	["1", 18, "3012.5", "0.000000"],
	["2500123456", 6, "0.9998", "2499.623431"],
	["115792089237316195423570985008687907853269984665640564039457584007913129639935", 0, "1", "115792089237316195423570985008687907853269984665640564039457584007913129639935.000000"],
	["0", 6, "1", "0.000000"],
	["5", 0, "7", "35.000000"],
])("%s base units of %i decimals at %s are worth %s", (units, decimals, price, dollars) => {
	expect(valueUSD(units, decimals, price)).toBe(dollars);
});

test("what has no price comes last, what is worth more first", () => {
	expect([undefined, "9.000000", "10.000000", undefined].sort(compareValue)).toEqual(["10.000000", "9.000000", undefined, undefined]);
	const rows = [{ usd: undefined }, { usd: "9.000000" }, { usd: "10.000000" }];
	expect(rows.sort((a, b) => compareValue(a.usd, b.usd)).map((r) => r.usd)).toEqual(["10.000000", "9.000000", undefined]);
});

describe("total", () => {
	it("adds exactly", () => expect(sumUSD([valueUSD("1", 0, "0.1"), valueUSD("1", 0, "0.2"), "3.000000"])).toBe("3.300000"));
	it("of nothing is nothing", () => expect(sumUSD([])).toBe("0.000000"));
});
