import { describe, expect, it } from "vitest";
import { NATIVE } from "../state/network-data";
import type { Offer, Provider, ProvidersResult, Review, Token } from "../wire/protocol";
import { resultOf } from "../wire/recorded";
import { bridge } from "./bridge/machine";
import { dex } from "./dex/machine";
import { chosenOffer, unsupportedRoute, factsOf, type Inputs, missingGas, unsupportedOn, queryOf, sameToken } from "./machine";
import { next, type PanelState, start } from "./panel";

const providers = resultOf<ProvidersResult>("swap", "providers").providers;
const served = providers.find((p) => p.kind === "intent")!; // 1 across chains; 39 disabled
const token = (symbol: string, chainId = 1, decimals = 18): Token => ({ chainId, address: symbol === "ETH" ? NATIVE : `0x${symbol}`, symbol, name: symbol, decimals, verified: true });
const place = (chainId: number, name = `chain ${chainId}`) => ({ chainId, name });
const now = Date.UTC(2026, 0, 1);
const offer = (id: string, part: Partial<Offer> = {}): Offer => ({ ...resultOf<Review>("swap", "prepare").offer, id, expires: new Date(now + 30_000).toISOString(), ...part });

const inputs: Inputs = {
	draft: { tokenIn: token("ETH"), tokenOut: token("USDC", 1, 6), destination: 0, amount: "1.5" },
	account: "0xA", from: place(1, "Ethereum"), to: place(1, "Ethereum"), destinationReadable: true, slippage: 0.5, provider: providers.find((p) => p.kind === "dex"),
	balance: "2000000000000000000", coinBalance: "2000000000000000000", coin: { symbol: "ETH", decimals: 18 },
};
const draft = (part: Partial<Inputs["draft"]>): Partial<Inputs> => ({ draft: { ...inputs.draft, ...part } });

describe("queryOf", () => {
	it("asks for exactly what stands in the form", () => {
		expect(queryOf(dex, inputs)).toEqual({ account: "0xA", srcChainId: 1, tokenIn: NATIVE, amountIn: "1500000000000000000", dstChainId: 1, tokenOut: "0xUSDC", slippage: 0.5 });
	});
	it.each<[string, Partial<Inputs>]>([
		["an account", { account: undefined }],
		["a provider", { provider: undefined }],
		["a token in", draft({ tokenIn: undefined })],
		["a token out", draft({ tokenOut: undefined })],
		["two tokens", draft({ tokenOut: token("ETH") })],
		["an amount", draft({ amount: "" })],
		["an amount that can be read", draft({ amount: "1.5.5" })],
		["no more decimals than the token has", { ...draft({ amount: "0.1", tokenIn: token("GUSD", 1, 0) }) }],
		["an amount above zero", draft({ amount: "0.000" })],
		["the balance", { balance: "1499999999999999999" }],
		["any balance", { balance: "0" }],
		["a token in of this network", draft({ tokenIn: token("ETH", 10) })],
		["a token out of the other network", { to: place(10) }],
		["a token out of this network", draft({ tokenOut: token("USDC", 10) })],
		["a network that is served", { from: place(7), to: place(7), ...draft({ tokenIn: token("ETH", 7), tokenOut: token("USDC", 7) }) }],
		["a provider that is ready", { provider: { ...inputs.provider!, ready: false, reason: "no key" } }],
	])("asks nothing without %s", (_, part) => expect(queryOf(dex, { ...inputs, ...part })).toBeUndefined());
	it("asks for all of the balance, and while it is not known", () => {
		expect(queryOf(dex, { ...inputs, balance: "1500000000000000000" })).toBeDefined();
		expect(queryOf(dex, { ...inputs, balance: undefined })).toBeDefined();
	});
	it("asks across networks where the provider crosses, also to one that its table has not", () => {
		const across = { ...inputs, provider: { ...served, kind: "bridge" } as Provider, to: place(137), ...draft({ tokenOut: token("USDC", 137) }) };
		expect(queryOf(bridge, across)).toMatchObject({ srcChainId: 1, dstChainId: 137 });
		expect(queryOf(bridge, { ...across, to: place(39), ...draft({ tokenOut: token("USDC", 39) }) })).toBeUndefined();
	});
	it("takes the same token on another network for another token", () => {
		expect(sameToken({ ...inputs, ...draft({ tokenOut: token("ETH", 10) }) })).toBe(false);
		expect(sameToken({ ...inputs, ...draft({ tokenOut: token("ETH") }) })).toBe(true);
	});
});

describe("where a provider swaps", () => {
	it.each<[string, Partial<Provider>, number, object | undefined]>([
		["active", {}, 1, undefined],
		["disabled", {}, 39, { key: "unsupported_disabled", values: ["chain 39"] }],
		["not in the table", {}, 7, { key: "unsupported_network", values: ["chain 7"] }],
		["in no prototype of it", {}, "constructor" as never, { key: "unsupported_network" }],
		["not ready", { ready: false, reason: "no key" }, 1, { key: "unsupported_not_ready", values: ["no key"] }],
		["not ready for no reason", { ready: false }, 1, { key: "unsupported_not_ready", values: [""] }],
	])("%s", (_, part, chainId, want) => {
		const got = unsupportedOn({ ...served, ...part }, place(chainId));
		if (want) expect(got).toMatchObject(want);
		else expect(got).toBeUndefined();
	});
	it("swaps nothing on a network that was shut down, whatever the table says", () => {
		const ended = { ...place(1), ended: "2026-08-15T00:00:00Z" };
		expect(unsupportedOn(served, ended)).toEqual({ key: "unsupported_ended", values: ["chain 1"] });
		expect(unsupportedRoute(served, place(1), { ...place(10), ended: "2026-08-15T00:00:00Z" })).toEqual({ key: "unsupported_ended", values: ["chain 10"] });
	});
	it.each<[string, number, number, Partial<Provider["support"]>, string | undefined]>([
		["stays", 1, 1, {}, undefined],
		["goes beyond the table", 1, 137, {}, undefined],
		["goes to a disabled one", 1, 39, {}, "unsupported_destination"],
		["goes to one that it does not cross to", 1, 10, { "10": { support: "active", crossChainEnabled: false } }, "unsupported_destination"],
		["goes to another", 1, 10, { "10": { support: "active", crossChainEnabled: true } }, undefined],
		["leaves one that it does not cross from", 10, 1, { "10": { support: "active", crossChainEnabled: false } }, "unsupported_leaving"],
		["leaves one that it does not know", 7, 1, {}, "unsupported_leaving"],
	])("%s", (_, from, to, support, key) => {
		const provider = { ...served, support: { ...served.support, ...(support as Provider["support"]) } };
		expect(unsupportedRoute(provider, place(from), place(to))?.key).toBe(key);
	});
});

describe("chosenOffer", () => {
	const state = (offers: Offer[], chosen?: string): PanelState => ({ ...start, quotes: { at: "shown", offers, since: now }, chosen: chosen === undefined ? undefined : offer(chosen) });
	const over = offer("over", { expires: new Date(now).toISOString() });
	it.each<[string, PanelState, string | undefined]>([
		["nothing", state([]), undefined],
		["the first", state([offer("a"), offer("b")]), "a"],
		["the picked one", state([offer("a"), offer("b")], "b"), "b"],
		["the first, where the picked one is gone", state([offer("a")], "z"), "a"],
		["the first that can be carried out", state([offer("a", { unusable: "no" }), over, offer("c")]), "c"],
		["the first, where none can", state([offer("a", { unusable: "no" }), over]), "a"],
		["the picked one also when it cannot: it is not changed under one's hands", state([offer("a"), over], "over"), "over"],
	])("is %s", (_, s, id) => expect(chosenOffer(s, now)?.id).toBe(id));
});

describe("missingGas", () => {
	const cost = { gasCost: "600000000000000000" };
	it.each<[string, Partial<Inputs>, Partial<Offer> | undefined, string | undefined]>([
		["with what is paid in the coin", {}, cost, "100000000000000000"],
		["beside a token", draft({ tokenIn: token("USDC") }), cost, undefined],
		["of a coin that there is not", { ...draft({ tokenIn: token("USDC") }), coinBalance: "0" }, cost, "600000000000000000"],
		["to the last wei", { coinBalance: "2100000000000000000" }, cost, undefined],
		["of an unknown balance", { coinBalance: undefined }, cost, undefined],
		["of an unknown cost", {}, {}, undefined],
		["of an offer without gas", {}, { ...cost, gasless: true }, undefined],
		["without an offer", {}, undefined, undefined],
	])("%s", (_, part, o, want) => {
		const { gasCost: __, ...free } = offer("a");
		expect(missingGas({ ...inputs, ...part }, o && { ...free, ...o })).toBe(want);
	});
});

describe("factsOf", () => {
	const query = queryOf(dex, inputs)!;
	const shown = [{ event: "asked", query }, { event: "offered", query, offers: [offer("a")], done: true, now }].reduce((s, e) => next(s, e as never), start);
	const facts = (part: Partial<Inputs>, state = shown, missing?: string) => factsOf(dex, { ...inputs, ...part }, state, { missingGas: missing, failure: undefined }, now);
	it("tells of the offers for what stands in the form", () => {
		expect(facts({})).toMatchObject({ quotes: "shown", symbolIn: "ETH", symbolOut: "USDC", amount: "1500000000000000000", preparing: false, unsupported: undefined });
	});
	it.each<[string, Partial<Inputs>]>([["amount", draft({ amount: "1.6" })], ["slippage", { slippage: 1 }], ["account", { account: "0xB" }], ["token", draft({ tokenOut: token("DAI") })]])(
		"takes offers for another %s for none: they cannot be reviewed",
		(_, part) => expect(facts(part).quotes).toBe("asking"),
	);
	it("tells of missing gas while the offers hold, and not when they have to be asked for again", () => {
		expect(facts({}, shown, "0.1").missingGas).toBe("0.1");
		expect(facts({}, next(shown, { event: "tick", now: now + 31_000 }), "0.1")).toMatchObject({ quotes: "expired", missingGas: undefined });
		expect(facts({}, next(shown, { event: "taken" }), "0.1").missingGas).toBeUndefined();
	});
	it("tells of a plan that is made", () => expect(facts({}, next(shown, { event: "review", offer: "a" })).preparing).toBe(true));
	it("tells where it is not served", () => expect(facts({ from: place(7) }).unsupported).toMatchObject({ key: "unsupported_network" }));
	it("tells why an offer cannot be carried out", () => {
		const state = next(shown, { event: "offered", query, offers: [offer("b", { unusable: "too small" })], done: true, now });
		expect(facts({}, state).unusable).toBe("too small");
	});
});
