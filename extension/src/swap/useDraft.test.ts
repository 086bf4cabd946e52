import { describe, expect, it } from "vitest";
import type { Balance, Token } from "../wire/protocol";
import { NATIVE } from "../state/network-data";
import { type Draft, emptyDraft } from "./draft";
import { adaptDraft, swapSides } from "./useDraft";

const token = (symbol: string, chainId = 1): Token => ({ chainId, address: symbol === "ETH" ? NATIVE : `0x${symbol}`, symbol, name: symbol, decimals: 18, verified: true });
const balances: Balance[] = [{ token: NATIVE, amount: "1", known: token("ETH") } as Balance, { token: "0xUSDC", amount: "1", known: token("USDC") } as Balance];
const here = { active: 1, crossChain: false, balances };
const draftOf = (part: Partial<Draft>): Draft => ({ ...emptyDraft, ...part });

describe("fit", () => {
	it("leaves a draft of this network as it is", () => {
		const d = draftOf({ tokenIn: token("USDC"), tokenOut: token("ETH"), amount: "5" });
		expect(adaptDraft(d, here)).toBe(d);
	});
	it("begins with the network's own coin, and keeps what was typed", () => expect(adaptDraft(draftOf({ amount: "5" }), here)).toEqual(draftOf({ tokenIn: token("ETH"), amount: "5" })));
	it("forgets tokens of another network, and the amount that was of them", () => {
		const d = draftOf({ tokenIn: token("OP", 10), tokenOut: token("USDC", 10), amount: "5" });
		expect(adaptDraft(d, here)).toEqual(draftOf({ tokenIn: token("ETH") }));
	});
	it("knows no coin while the balances are unknown, or of another network", () => {
		expect(adaptDraft(emptyDraft, { ...here, balances: [] })).toBe(emptyDraft);
		expect(adaptDraft(emptyDraft, { ...here, active: 10 })).toBe(emptyDraft);
		expect(adaptDraft(draftOf({ tokenIn: token("OP", 10) }), { ...here, balances: [] }).tokenIn).toBeUndefined();
	});
	it.each([
		[true, 10, 10, true], [true, 10, 1, false], [true, 0, 1, true], [true, 0, 10, false], [false, 10, 1, true], [false, 10, 10, false],
	])("crossing %s to %i: an output on %i stays %s", (crossChain, destination, chainId, stays) => {
		const d = draftOf({ tokenIn: token("ETH"), tokenOut: token("USDC", chainId), destination, amount: "5" });
		const fitted = adaptDraft(d, { ...here, crossChain });
		expect(fitted.tokenOut).toEqual(stays ? d.tokenOut : undefined);
		expect([fitted.destination, fitted.amount]).toEqual([destination, "5"]);
	});
	it("fits what it has fitted", () => {
		for (const d of [emptyDraft, draftOf({ tokenIn: token("OP", 10), tokenOut: token("X", 7), destination: 7, amount: "1" })]) {
			const once = adaptDraft(d, here);
			expect(adaptDraft(once, here)).toBe(once);
		}
	});
});

describe("turned", () => {
	it("swaps the two and forgets the amount", () => {
		expect(swapSides(draftOf({ tokenIn: token("ETH"), tokenOut: token("USDC"), amount: "5" }), 1)).toEqual(draftOf({ tokenIn: token("USDC"), tokenOut: token("ETH") }));
	});
	it("leaves what goes to another network", () => {
		const d = draftOf({ tokenIn: token("ETH"), tokenOut: token("USDC", 10), destination: 10, amount: "5" });
		expect(swapSides(d, 1)).toBe(d);
	});
});
