import { expect, it } from "vitest";
import { fuzzed, fuzzTimeout } from "../wire/fuzzed";
import { readSlippage } from "./slippage";

it("reads what is typed as the percentage that stands there, within its bounds, or not at all", async () => {
	await fuzzed(import.meta.dirname, "slippage", (text) => {
		const percent = readSlippage(text);
		if (percent === undefined) return;
		expect(percent > 0 && percent <= 15).toBe(true);
		const [whole = "", part = ""] = text.trim().split(/[.,]/);
		expect(`${whole}${part}`).toMatch(/^\d{1,4}$/);
		// Computed in hundredths, without floats in between.
		expect(Math.round(percent * 100)).toBe(Number.parseInt(`${whole || "0"}${part.padEnd(2, "0")}`, 10));
		expect(readSlippage(String(percent))).toBe(percent);
	});
}, fuzzTimeout);
