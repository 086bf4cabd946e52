/// <reference types="vite/client" />
import { beforeEach, describe, expect, it, vi } from "vitest";
import deErrors from "../../messages/de/errors.json";
import deOrder from "../../messages/de/order.json";
import deStates from "../../messages/de/states.json";
import enErrors from "../../messages/en/errors.json";
import enOrder from "../../messages/en/order.json";
import enStates from "../../messages/en/states.json";
import { loadLanguage } from "../i18n/t";
import type { Cause, ReasonCode, Order } from "../wire/protocol";
import source from "../wire/protocol.ts?raw";
import { causeWords } from "./cause-words";
import type { OrderFormatter } from "./line";
import { trusted, trustedNames } from "./trusted";

const languages: Record<string, Record<string, string>> = { en: { ...enErrors, ...enOrder, ...enStates }, de: { ...deErrors, ...deOrder, ...deStates } };
const union = (name: string) => [...(new RegExp(`export type ${name} = (.*);`).exec(source)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map((m) => m[1]!);
const words = union("ReasonCode") as ReasonCode[];

async function speaking(language: string): Promise<void> {
	const messages = Object.fromEntries(Object.entries(languages[language] ?? {}).map(([key, message]) => [key, { message }]));
	vi.stubGlobal("chrome", { i18n: { getUILanguage: () => language }, runtime: { getURL: (path: string) => path } });
	vi.stubGlobal("fetch", async () => ({ json: async () => messages }));
	vi.stubGlobal("document", { documentElement: {} });
	await loadLanguage(language);
}

const usdc = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const dai = "0x6B175474E89094C44Da98b954EedeAC495271d0F";
const order = { terms: { provider: "dex", srcChainId: 1, tokenIn: dai, dstChainId: 10, tokenOut: usdc } } as Order;
const format: OrderFormatter = {
	amount: (chainId, token, units) => `${Number(units) / 1e6} ${token === usdc ? "USDC" : "DAI"}@${chainId}`,
	coin: (_, wei) => `${Number(wei) / 1e6} ETH`,
	network: (chainId) => `net ${chainId}`,
	list: (names) => names.join(),
	account: (address) => address.slice(0, 6),
	trusted: (who) => trusted(who) ?? who,
	provider: (kind) => kind,
	time: (time) => time,
};

/** Every detail that a cause may have. */
const figures = {
	minOut: "595506904", offered: "594000000", spent: "7000001", allowed: "8000001", spender: usdc, tx: "0x05", chainId: "8453", state: "filled", condition: "cancelling", block: "77", hosts: "a.example, b.example", step: "2",
	tier: "fast", previous: "1000001", ceiling: "2000001", amount: "2500001", token: usdc,
};
const told = (word: string, more: Partial<Cause> = {}, fallback = "in the daemon's words") =>
	causeWords({ cause: { reason: word as ReasonCode, error: "would_revert", details: figures, ...more }, words: fallback }, order, format);

describe.each(Object.keys(languages))("in %s", (language) => {
	beforeEach(() => speaking(language));
	it("reads the protocol", () => expect(words.length).toBeGreaterThan(60));
	it.each(words)("%s has words", (word) => {
		const { text, said } = told(word);
		expect(text).toBeTruthy();
		expect(text).not.toMatch(/cause_|\$|undefined|daemon's/);
		expect(text, "no base units").not.toMatch(/\d{7,}/);
		expect(said).toBeUndefined();
	});
	it.each(Object.keys(trustedNames))("%s is named", (who) => expect(trusted(who)).toMatch(/^[^_]+$/));
	it("has no words for a cause that there is not", () => {
		const strangers = Object.keys(languages[language]!).filter((k) => k.startsWith("cause_")).map((k) => k.slice(6)).filter((k) => k !== "outside_terms_field" && !words.includes(k as ReasonCode));
		expect(strangers).toEqual([]);
	});
});

describe("a cause", () => {
	beforeEach(() => speaking("de"));
	it("writes amounts of the token that they are of", () => {
		expect(told("price_fell").text).toBe("Der Kurs ist gefallen: Du hast mindestens 595.506904 USDC@10 angenommen, und das beste Angebot sichert 594 USDC@10 zu.");
		expect(told("allowance_spent").text).toContain("7.000001 DAI@1 der erlaubten 8.000001 DAI@1");
		expect(told("user_raised_ceiling").text).toContain("von 1.000001 ETH auf 2.000001 ETH");
	});
	it("of a refusal says which, without what that says of signatures", () => {
		const { text } = told("refused_unsigned", { error: "not_as_accepted", details: { field: "amountIn", of: "tokenIn", got: "5000000", wanted: "6000000" } });
		expect(text).toBe("Swapkeep hat angehalten: Der Anbieter hat den Betrag, den du zahlst, geändert. Der Wert ist 5 DAI@1; erwartet wurde 6 DAI@1.");
	});
	it("of a refusal says the amounts in its details", () => {
		const { text } = told("refused_unsigned", { error: "insufficient_funds", details: { missing: "2000000", balance: "5000000" } });
		expect(text).toMatch(/^Swapkeep hat angehalten: .*2 DAI@1.*5 DAI@1/);
	});
	it("quotes others, and says who they are", () => {
		expect(told("not_broadcast", { quotedText: "underpriced", quotedFrom: "node" })).toMatchObject({ text: "Kein RPC-Endpunkt hat die Transaktion angenommen; nichts wurde gesendet.", said: { by: "node", words: "underpriced" } });
	});
	it.each([
		["a reason of a newer daemon", { reason: "too_wet" as ReasonCode }],
		["an error of a newer daemon", { reason: "refused" as ReasonCode, error: "too_wet" }],
		["a figure that is missing", { reason: "price_fell" as ReasonCode, details: { minOut: "5" } }],
		["a figure that is none", { reason: "price_fell" as ReasonCode, details: { minOut: "5", offered: "much" } }],
	])("of %s is told in the daemon's words", (_, cause) => {
		expect(causeWords({ cause, words: "so it is" }, order, format)).toEqual({ text: "", said: { by: "wallet", words: "so it is" } });
	});
	it("that an older daemon did not keep is told in its words", () => {
		expect(causeWords({ words: "so it is" }, order, format)).toEqual({ text: "", said: { by: "wallet", words: "so it is" } });
		expect(causeWords({ words: undefined }, order, format)).toEqual({ text: "" });
	});
});

it("who is trusted that is not known here has no name", () => expect(trusted("a friend")).toBeUndefined());
