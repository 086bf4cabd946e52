import { expect, it } from "vitest";
import { fuzzed, fuzzTimeout } from "../wire/fuzzed";
import { draftOf } from "./draft";

it("reads what was kept as a form that can be filled in, the same again, or not at all", async () => {
	await fuzzed(import.meta.dirname, "draft", (text) => {
		let kept: unknown;
		try {
			kept = JSON.parse(text);
		} catch {
			return;
		}
		const draft = draftOf(kept);
		if (!draft) return;
		expect([typeof draft.amount, Number.isSafeInteger(draft.destination)]).toEqual(["string", true]);
		for (const token of [draft.tokenIn, draft.tokenOut]) {
			if (!token) continue;
			expect([typeof token.address, typeof token.symbol, typeof token.name, Number.isSafeInteger(token.chainId)]).toEqual(["string", "string", "string", true]);
			expect(Number.isInteger(token.decimals) && token.decimals >= 0 && token.decimals <= 255).toBe(true);
		}
		expect(draftOf(JSON.parse(JSON.stringify(draft)))).toEqual(draft);
	});
}, fuzzTimeout);
