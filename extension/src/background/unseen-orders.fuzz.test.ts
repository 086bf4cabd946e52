import { expect, it } from "vitest";
import { fuzzed, fuzzTimeout } from "../wire/fuzzed";
import { parseUnseen } from "./unseen-orders";

it("reads what the browser's session kept as ids with an end each, the same again, or as nothing", async () => {
	await fuzzed(import.meta.dirname, "ended", (text) => {
		let kept: unknown;
		try {
			kept = JSON.parse(text);
		} catch {
			return;
		}
		const ended = parseUnseen(kept);
		expect(Object.getPrototypeOf(ended)).toBe(Object.prototype);
		if (typeof kept !== "object" || kept === null || Array.isArray(kept)) expect(ended).toEqual({});
		for (const [id, filled] of Object.entries(ended)) {
			expect(typeof filled).toBe("boolean");
			expect((kept as Record<string, unknown>)[id]).toBe(filled);
		}
		expect(parseUnseen(structuredClone(ended))).toEqual(ended);
		// Other entries must not remove an order's end.
		const more = typeof kept === "object" && kept !== null && !Array.isArray(kept) ? { ...kept, "018f-a": true } : { "018f-a": true };
		expect(parseUnseen(more)["018f-a"]).toBe(true);
	});
}, fuzzTimeout);
