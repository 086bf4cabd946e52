import { expect, it } from "vitest";
import { fuzzed, fuzzTimeout } from "../../wire/fuzzed";
import { cleanText, fetchTokens, readTokens } from "./tokens";

const chains = [1, 10, 8453];

/** fits reports whether a name fits on one line. */
const fits = (text: string) => [...text].length <= 64 && text === text.trim() && !/[\p{C}\p{Default_Ignorable_Code_Point}]|\p{M}{3}|\s{2}/u.test(text) && !/^\p{M}/u.test(text);

it("reads whatever list comes as tokens of the networks asked for, each once, or refuses it", async () => {
	await fuzzed(import.meta.dirname, "tokens", async (text) => {
		const bytes = new TextEncoder().encode(text);
		const listing = await fetchTokens(chains, async () => new Response(bytes, { headers: { "content-type": "application/json" } }), "https://tokens.example");
		const seen = new Set<string>();
		for (const t of listing.tokens) {
			expect(chains).toContain(t.chainId);
			expect(t.address).toMatch(/^0x[0-9a-fA-F]{40}$/);
			expect(Number.isInteger(t.decimals) && t.decimals >= 0 && t.decimals <= 36).toBe(true);
			expect(fits(t.symbol) && t.symbol !== "" && fits(t.name) && t.name !== "").toBe(true);
			expect(Object.keys(t).sort()).toEqual(["address", "chainId", "decimals", "name", "symbol", "verified"]);
			expect(t.verified).toBe(false);
			expect(seen.has(`${t.chainId}:${t.address.toLowerCase()}`)).toBe(false);
			seen.add(`${t.chainId}:${t.address.toLowerCase()}`);
		}
		if (listing.reason !== undefined) expect(listing.tokens).toEqual([]);
		// Parsing the result again gives the same.
		expect(readTokens(JSON.parse(JSON.stringify(listing.tokens)), chains)).toEqual(listing.tokens);
		expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
	});
}, fuzzTimeout);

it("makes whatever name comes fit for one line, and leaves one that is", async () => {
	await fuzzed(import.meta.dirname, "names", (text) => {
		const clean = cleanText(text);
		expect(fits(clean), clean).toBe(true);
		expect(cleanText(clean)).toBe(clean);
	});
}, fuzzTimeout);
