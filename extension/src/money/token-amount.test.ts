import { expect, it } from "vitest";
import { rawAmount, shortAmount, fullAmount } from "./token-amount";

const usdc = { symbol: "USDC", decimals: 6 };
const eth = { symbol: "ETH", decimals: 18 };

it.each([
	["2999000001", usdc, "en", "2,999.000001\u00a0USDC"], ["1", eth, "en", "0.000000000000000001\u00a0ETH"], ["0", usdc, "en", "0\u00a0USDC"],
	["123456789012345678901234567890", eth, "en", "123,456,789,012.34567890123456789\u00a0ETH"], ["1234567891", usdc, "de", "1.234,567891\u00a0USDC"],
])("spells %s out to the last digit", (units, unit, locale, text) => expect(fullAmount(units, unit, locale)).toBe(text));

it("shows less at a glance, and never more than there is", () => expect(shortAmount("1999999999999999999", eth, "en")).toBe("1.999999\u00a0ETH"));

it("says base units where nothing is known", () => {
	const words = (digits: string, token: string) => `${digits} base units of ${token}`;
	expect(rawAmount("1234567", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", words, "en")).toBe("1,234,567 base units of 0xA0b8…eB48");
});
