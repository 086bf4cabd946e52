import { expect, it } from "vitest";
import type { Setting } from "../../wire/protocol";
import { fuzzed, fuzzTimeout } from "../../wire/fuzzed";
import { kinds, secondsOf } from "./values";

const bounds: Partial<Record<Setting["type"], [string, string]>> = { percent: ["0.05", "50"], number: ["1", "65535"], duration: ["30s", "24h0m0s"] };

it("reads what is typed for a setting as a value within the bounds that the daemon told, or says what is wrong", async () => {
	await fuzzed(import.meta.dirname, "values", (text) => {
		for (const [type, [min, max]] of Object.entries(bounds) as [Setting["type"], [string, string]][]) {
			const setting = { type, min, max, value: "" } as Setting;
			const read = kinds[type].read(text, setting);
			if (typeof read === "string") continue;
			expect(Object.keys(read)).toEqual(["value"]);
			const count = type === "duration" ? secondsOf : Number;
			const n = count(read.value!);
			expect(n >= count(min) && n <= count(max), read.value).toBe(true);
			const typed = Number(text.trim().replace(",", "."));
			expect(Math.abs(n - typed * (type === "duration" ? 60 : 1))).toBeLessThanOrEqual(type === "duration" ? 0.5 : 0);
		}
		for (const type of ["url", "urls"] as const) {
			const read = kinds[type].read(text, { type, value: "" } as Setting);
			if (typeof read === "string") continue;
			const urls = read.values ?? [read.value!];
			expect(urls.length > 0 && urls.length <= 8).toBe(true);
			for (const url of urls) {
				expect(url).not.toMatch(/\s/);
				expect(["http:", "https:"]).toContain(new URL(url).protocol);
			}
		}
	});
}, fuzzTimeout);
