import { describe, expect, it } from "vitest";
import type { Offer } from "../wire/protocol";
import { Failure } from "../wire/failure";
import { errors, type ErrorName } from "../wire/protocol";
import { expired, noQuotes, type Query, type QuoteEvent, quoted, type Quotes, sameQuery, usable } from "./quotes";

const query: Query = { account: "0xA", srcChainId: 1, tokenIn: "0x1", amountIn: "5", dstChainId: 1, tokenOut: "0x2", slippage: 0.5 };
const other: Query = { ...query, amountIn: "6" };
const at = (seconds: number) => Date.UTC(2026, 0, 1, 0, 0, seconds);
const offer = (id: string, seconds = 30, more: Partial<Offer> = {}) => ({ id, expires: new Date(at(seconds)).toISOString(), ...more }) as Offer;
const failure = (name: ErrorName) => new Failure({ code: errors[name].code, message: "", data: { name, retryable: errors[name].retryable, remedy: "" } });
const run = (from: Quotes, ...events: QuoteEvent[]) => events.reduce(quoted, from);
const offered = (offers: Offer[], done = true, q = query, now = at(0)): QuoteEvent => ({ event: "offered", query: q, offers, done, now });

const asking = run(noQuotes, { event: "asked", query });
const shown = run(asking, offered([offer("a"), offer("b", 60)]));
const refreshing = run(shown, { event: "asked", query });
const taken = run(shown, { event: "taken" });
const over = run(shown, { event: "tick", now: at(60) });
const failed = run(asking, { event: "failed", query, failure: failure("no_route") });
const states: [string, Quotes][] = [["idle", noQuotes], ["asking", asking], ["shown", shown], ["refreshing", refreshing], ["taken", taken], ["expired", over], ["failed", failed]];

describe("a quote", () => {
	it.each(states)("can be %s", (name, state) => expect(state.at).toBe(name));
	it.each(states)("%s: asked for nothing is idle", (_, state) => expect(run(state, { event: "asked", query: undefined })).toBe(noQuotes));
	it.each(states)("%s: asked for something else is asking, and shows nothing of before", (_, state) =>
		expect(run(state, { event: "asked", query: other })).toEqual({ at: "asking", query: other, offers: [], since: 0 }));
	it.each(states)("%s: asked for the same keeps its offers", (_, state) => {
		const next = run(state, { event: "asked", query });
		expect(next).toMatchObject(state.offers.length > 0 ? { at: "refreshing", offers: state.offers } : { at: "asking", offers: [] });
	});
	it.each(states)("%s: answers to an older question change nothing", (_, state) => {
		expect(run(state, offered([offer("z")], true, other))).toBe(state);
		expect(run(state, { event: "failed", query: other, failure: failure("locked") })).toBe(state);
	});
	it.each(states)("%s: a refusal that stays", (name, state) => {
		const next = run(state, { event: "failed", query, failure: failure("insufficient_funds") });
		if (name === "idle" || name === "taken") expect(next).toBe(state);
		else expect(next).toMatchObject({ at: "failed", offers: [], failure: { name: "insufficient_funds" } });
	});
	it.each(states)("%s: a refusal that may pass takes no offers away that nobody asked to refresh", (name, state) => {
		const next = run(state, { event: "failed", query, failure: failure("provider_busy") });
		if (name === "idle" || name === "taken" || name === "shown") expect(next).toBe(state);
		else expect(next).toMatchObject({ at: "failed", offers: [] });
	});
	it.each(states)("%s: offers", (name, state) => {
		const next = run(state, offered([offer("c")], true, query, at(9)));
		if (name === "idle") expect(next).toBe(state);
		else expect(next).toMatchObject({ at: name === "taken" ? "taken" : "shown", offers: [{ id: "c" }], since: at(9) });
		expect(next.failure).toBeUndefined();
	});
	it.each(states)("%s: no offers, and no reason", (name, state) => {
		const next = run(state, offered([]));
		if (name === "idle") expect(next).toBe(state);
		else expect(next).toMatchObject({ at: name === "taken" ? "taken" : "failed", offers: [] });
	});
	it.each(states)("%s: none yet changes nothing", (_, state) => expect(run(state, offered([], false))).toBe(state));
	it.each(states)("%s: taken by another window", (name, state) => expect(run(state, { event: "taken" }).at).toBe(name === "idle" ? "idle" : "taken"));
	it.each(states)("%s: a clock that says nothing new changes nothing", (_, state) => expect(run(state, { event: "tick", now: at(1) })).toBe(state));
	it.each(states)("%s: long after", (name, state) => expect(run(state, { event: "tick", now: at(3600) }).at).toBe(name === "shown" || name === "taken" ? "expired" : name));

	it("that comes in parts grows, newer parts in place of older ones, and is whole with the last", () => {
		const parts = run(asking, offered([offer("a")], false), offered([offer("b")], false));
		expect(parts.offers.map((o) => o.id)).toEqual(["a", "b"]);
		const newer = run(parts, offered([offer("a", 99)], false));
		expect(newer.offers.map((o) => o.id)).toEqual(["b", "a"]);
		expect(newer.offers[1]!.expires).toBe(offer("a", 99).expires);
		expect(run(newer, offered([offer("c"), offer("a")])).offers.map((o) => o.id)).toEqual(["c", "a"]);
	});
	it("holds as long as one of its offers does", () => {
		expect(run(shown, { event: "tick", now: at(59) }).at).toBe("shown");
		expect(run(shown, { event: "tick", now: at(60) }).at).toBe("expired");
	});
	it("that has expired keeps what it showed, and is shown again when refreshed", () => {
		expect(over.offers).toHaveLength(2);
		expect(run(over, offered([offer("n", 90)])).at).toBe("shown");
	});
});

it("expired counts the moment itself, and a time that cannot be read", () => {
	expect(expired({ expires: "soon" }, 0)).toBe(true);
	expect(expired({ expires: offer("a", 30).expires }, at(30) - 1)).toBe(false);
	expect(expired({ expires: offer("a", 30).expires }, at(30))).toBe(true);
});

it("usable is neither expired nor only to be shown", () => {
	expect(usable(offer("a"), at(0))).toBe(true);
	expect(usable(offer("a"), at(31))).toBe(false);
	expect(usable(offer("a", 30, { unusable: "short" }), at(0))).toBe(false);
});

it("sameQuery compares all of it", () => {
	expect(sameQuery(query, { ...query })).toBe(true);
	expect(sameQuery(undefined, undefined)).toBe(true);
	expect(sameQuery(query, undefined)).toBe(false);
	for (const key of Object.keys(query) as (keyof Query)[]) expect(sameQuery(query, { ...query, [key]: "x" }), key).toBe(false);
});
