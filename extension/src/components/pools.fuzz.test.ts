import { expect, it } from "vitest";
import { fuzzed, fuzzTimeout } from "../wire/fuzzed";
import { parsePools } from "./pools";

it("reads a provider's words for a route as shares of a whole with the fees that stand there, or not at all", async () => {
	await fuzzed(import.meta.dirname, "pools", (text) => {
		const legs = parsePools(text);
		if (!legs) return;
		expect(Math.abs(legs.reduce((sum, { share }) => sum + share, 0) - 100)).toBeLessThan(0.5);
		// One number per percent sign, each exactly as written.
		expect(legs.reduce((sum, { fees }) => sum + fees.length + 1, 0)).toBe(text.split("%").length - 1);
		const written = [...text.matchAll(/[\w.,+-]*(?=\s*%)/g)].map((m) => m[0]).filter(Boolean);
		for (const { share, version, fees } of legs) {
			expect(version).toMatch(/^v\d(\s*\+\s*v\d)*$/);
			for (const n of [share, ...fees]) {
				expect(n >= 0 && n <= 100.5).toBe(true);
				expect(written.some((w) => /^\d+(\.\d+)?$/.test(w) && Number(w) === n), `${n} of ${written.join(" ")}`).toBe(true);
			}
		}
	});
}, fuzzTimeout);
