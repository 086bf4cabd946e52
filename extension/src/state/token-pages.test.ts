import { expect, test } from "vitest";
import type { Token } from "../wire/protocol";
import { noPages, type TokenPages, withPage } from "./token-pages";

const token = (symbol: string): Token => ({ chainId: 1, address: `0x${symbol.padStart(40, "0")}`, symbol, name: symbol, decimals: 18, verified: true });
const loading = (more: Partial<TokenPages> = {}): TokenPages => ({ ...noPages, key: "1:", at: "loading", ...more });

test("the first page replaces what stood there, the next is put after it", () => {
	const first = withPage(loading({ tokens: [token("old")] }), "1:", undefined, { tokens: [token("a")], cursor: "2" });
	expect(first).toEqual({ ...noPages, key: "1:", tokens: [token("a")], cursor: "2" });
	const second = withPage(first, "1:", "2", { tokens: [token("b")] });
	expect(second.tokens).toEqual([token("a"), token("b")]);
	expect(second.cursor).toBeUndefined();
});

test("a page of another list comes too late and changes nothing", () => {
	const now = loading({ key: "1:usd" });
	expect(withPage(now, "1:us", undefined, { tokens: [token("late")] })).toBe(now);
});

test("an address that is not known here can be looked at", () => {
	expect(withPage(loading(), "1:", undefined, { tokens: [], importable: "0xabc" }).importable).toBe("0xabc");
});
