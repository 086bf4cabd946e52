import { describe, expect, test } from "vitest";
import type { Price, Token } from "../wire/protocol";
import { NATIVE } from "../state/network-data";
import { type Choice, doubtOf, matches, tokenRows, countUnreadable } from "./token-rows";

const token = (n: number, symbol: string, more: Partial<Token> = {}): Token => ({
	chainId: 1, address: `0x${n.toString(16).padStart(40, "b")}`, symbol, name: `${symbol} Coin`, decimals: 6, verified: true, ...more,
});
const coin: Token = { chainId: 1, address: NATIVE, symbol: "ETH", name: "Ether", decimals: 18, verified: true };
const [usdc, dai, spam] = [token(1, "USDC"), token(2, "DAI"), token(3, "SPAM", { verified: false })];
const price = (t: Token, now: string, more: Partial<Price> = {}): [string, Price] => [t.address.toLowerCase(), { token: t.address, symbol: t.symbol, now, ...more }];
const choice = (more: Partial<Choice> = {}): Choice => ({ chainId: 1, query: "", coin, listed: [], extra: [], balances: [], prices: new Map(), ...more });
const symbols = (rows: { token: Token }[]) => rows.map((r) => r.token.symbol);

describe("tokenRows", () => {
	test("puts the coin first, then what is held by worth, then the others as listed", () => {
		const balances = [
			{ token: spam.address, amount: "9000000", known: spam },
			{ token: dai.address, amount: "5000000", known: dai },
			{ token: usdc.address, amount: "7000000", known: usdc },
			{ token: NATIVE, amount: "1", known: coin },
		];
		const rows = tokenRows(choice({ balances, listed: [token(9, "ZRX"), coin, usdc, token(8, "AAVE")], prices: new Map([price(usdc, "1"), price(dai, "1")]) }));
		expect(symbols(rows.held)).toEqual(["ETH", "USDC", "DAI", "SPAM"]);
		expect(symbols(rows.others)).toEqual(["ZRX", "AAVE"]);
		expect(rows.held[1]).toEqual({ token: usdc, amount: "7000000", usd: "7.000000" });
		expect(rows.held[3]).not.toHaveProperty("usd");
	});

	test("offers the coin while balances are unknown, and not where another one is searched for", () => {
		expect(symbols(tokenRows(choice()).held)).toEqual(["ETH"]);
		expect(tokenRows(choice({ query: "usd" })).held).toEqual([]);
		expect(tokenRows(choice({ coin: undefined })).held).toEqual([]);
	});

	test("shows the coin though there is none of it, and other tokens not", () => {
		const balances = [{ token: NATIVE, amount: "0", known: coin }, { token: dai.address, amount: "0", known: dai }, { token: usdc.address, known: usdc }];
		expect(tokenRows(choice({ balances })).held).toEqual([{ token: coin, amount: "0" }]);
	});

	test("counts what cannot be read, which is no row but the coin's", () => {
		const balances = [{ token: NATIVE, known: coin }, { token: dai.address, amount: "0", known: dai }, { token: usdc.address, known: usdc }];
		expect(countUnreadable(balances)).toBe(2);
		expect(tokenRows(choice({ balances })).held).toEqual([{ token: coin }]);
	});

	test("values nothing by a price that is too old", () => {
		const balances = [{ token: usdc.address, amount: "7000000", known: usdc }];
		const rows = tokenRows(choice({ coin: undefined, balances, prices: new Map([price(usdc, "1", { stale: true })]) }));
		expect(rows.held).toEqual([{ token: usdc, amount: "7000000" }]);
	});

	test("marks what only the provider's list names, each token once in whatever case its address is", () => {
		const again = { ...usdc, address: usdc.address.toUpperCase().replace("0X", "0x"), verified: false };
		const rows = tokenRows(choice({ coin: undefined, listed: [usdc], extra: [again, spam] }));
		expect(rows.others).toEqual([{ token: usdc }, { token: spam, displayOnly: true }]);
	});

	test("leaves out tokens of another network", () => {
		const elsewhere = token(4, "OP", { chainId: 10 });
		const balances = [{ token: elsewhere.address, amount: "1", known: elsewhere }];
		const rows = tokenRows(choice({ coin: undefined, listed: [elsewhere], extra: [elsewhere], balances }));
		expect(rows).toEqual({ held: [], others: [] });
	});
});

test.each([
	["usd", true],
	["  USDC  ", true],
	["usdc   coin", true],
	[usdc.address, true],
	[usdc.address.slice(0, 12).toUpperCase(), true],
	[usdc.address.slice(-6), true],
	["bb", false], // two characters match nearly every address
	["dai", false],
])("USDC is meant by %j: %s", (query, meant) => {
	expect(matches(usdc, query)).toBe(meant);
});

test.each<[string, Token, string | undefined]>([
	["verified", usdc, undefined],
	["imported by this user", { ...spam, imported: true }, undefined],
	["an imitation, imported or not", { ...spam, imported: true, imitates: usdc.address }, "imitates"],
	["of another list", { ...spam, list: "friends" }, "unverified"],
	["a coin that only a provider knows", { ...coin, chainId: 999, verified: false }, undefined],
])("doubt about a token that is %s", (_, of, doubt) => {
	expect(doubtOf(of)).toBe(doubt);
});
