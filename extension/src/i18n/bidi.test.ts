import { expect, it } from "vitest";
import { shortAmount, fullAmount } from "../money/token-amount";
import { isolateBidi } from "./bidi";

it.each(["USDC", "USD₮0", "ユーロ", "", "1,000.5"])("leaves %s as it is", (text) => expect(isolateBidi(text)).toBe(text));
it.each(["\u05d0\u05d1", "A\u0627B", "\ufe8d", "\u{1e900}"])("keeps %s to itself", (text) => expect(isolateBidi(text)).toBe(`\u2068${text}\u2069`));
it("keeps a symbol from turning its amount's surroundings around", () => {
	const unit = { symbol: "\u05d0", decimals: 0 };
	for (const write of [shortAmount, fullAmount]) expect(write("5", unit, "en")).toBe("5\u00a0\u2068\u05d0\u2069");
});
