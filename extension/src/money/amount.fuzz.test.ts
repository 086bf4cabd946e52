import { expect, it } from "vitest";
import { fuzzed, fuzzTimeout } from "../wire/fuzzed";
import { exactAmount, maybeThousands, parseAmount, exchangeRate, displayAmount, inputAmount } from "./amount";

const locales = ["en", "de", "fr", "de-CH", "ar", "hi"];

/** in36 scales a plain number to 36 decimals. */
function in36(shown: string): bigint {
	const [whole = "", fraction = ""] = shown.split(".");
	return BigInt(whole + fraction.padEnd(36, "0"));
}

it("reads what is typed exactly, or not at all, and writes it so that it is read the same", async () => {
	await fuzzed(import.meta.dirname, "amounts", (text, dice) => {
		const decimals = [0, 6, 18, 36][dice(4)]!;
		const locale = locales[dice(locales.length)]!;
		const units = parseAmount(text, decimals, locale);
		if (units === undefined) return;
		expect(units).toMatch(/^(0|[1-9]\d*)$/);
		expect(BigInt(units) < 2n ** 256n).toBe(true);
		expect(maybeThousands(text, locale)).toBe(false);
		// Exactly the number that was typed.
		const [whole = "", fraction = ""] = text.trim().replace(",", ".").split(".");
		expect(BigInt(units)).toBe(BigInt((whole || "0") + fraction.padEnd(decimals, "0")));
		expect(parseAmount(exactAmount(units, decimals), decimals)).toBe(units);
		expect(parseAmount(inputAmount(units, decimals, locale), decimals, locale)).toBe(units);
		// The displayed amount is never more than the real one.
		const shown = displayAmount(units, decimals, 6, "en").replace(/,/g, "");
		if (shown.startsWith("<")) expect(BigInt(units) > 0n).toBe(true);
		else expect(in36(shown) <= BigInt(units) * 10n ** BigInt(36 - decimals)).toBe(true);
		expect(exchangeRate(units, decimals, units, decimals, "en")).toBe(units === "0" ? "–" : "1");
	});
}, fuzzTimeout);
