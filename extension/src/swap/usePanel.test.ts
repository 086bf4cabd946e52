import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Channel } from "../state/channel";
import { Failure } from "../wire/failure";
import type { Offer, QuoteResult, Review } from "../wire/protocol";
import { type PanelEvent, type PanelState, type Stage, start } from "./panel";
import type { Query } from "./quotes";
import { planAbandoned, prepareRenewal, watchQuote } from "./usePanel";

const query: Query = { account: "0xA", srcChainId: 1, tokenIn: "0x1", amountIn: "5", dstChainId: 1, tokenOut: "0x2", slippage: 0.5 };
const other = { ...query, amountIn: "6" };
const offer = { id: "a" } as Offer;
const down = { code: 1426, message: "down", data: { name: "provider_down", retryable: true, remedy: "" } } as const;

const told: PanelEvent[] = [];
const dispatch = (e: PanelEvent) => void told.push(e);

function panel() {
	const calls: { method: string; params: unknown; answer(result: unknown): void; refuse(thrown: unknown): void }[] = [];
	const channel = {
		call: (method: string, params: unknown, onID?: (id: number) => void) =>
			new Promise((answer, refuse) => {
				onID?.(calls.length + 1);
				calls.push({ method, params, answer, refuse });
			}),
	} as unknown as Channel;
	const asked = { current: undefined as { query: Query; call: number } | undefined };
	return { calls, asked, ask: (q: Query | undefined) => watchQuote(channel, q, asked, dispatch) };
}

beforeEach(() => void told.splice(0));

describe("watchQuote", () => {
	it("asks for what stands in the form, watched, and tells the offers", async () => {
		const p = panel();
		const done = p.ask(query);
		expect(p.calls[0]).toMatchObject({ method: "swap.quote", params: { ...query, watch: true } });
		expect(p.asked.current).toEqual({ query, call: 1 });
		p.calls[0]!.answer({ offers: [offer], failures: {} } satisfies QuoteResult);
		await done;
		expect(told).toMatchObject([{ event: "asked", query }, { event: "offered", query, offers: [offer], done: true }]);
	});
	it.each<[string, Partial<QuoteResult>, Partial<PanelEvent>]>([
		["a failure", { offers: [], failures: { dex: down } }, { event: "failed" }],
		["a failure beside offers", { offers: [offer], failures: { dex: down } }, { event: "offered" }],
		["nothing", { offers: [], failures: {} }, { event: "offered" }],
		["no failures", { offers: [] }, { event: "offered" }],
	])("tells of %s", async (_, result, want) => {
		const p = panel();
		const done = p.ask(query);
		p.calls[0]!.answer(result);
		await done;
		expect(told[1]).toMatchObject(want);
	});
	it("tells why it was refused", async () => {
		const p = panel();
		const done = p.ask(query);
		p.calls[0]!.refuse(new Failure(down));
		await done;
		expect(told[1]).toMatchObject({ event: "failed", query, failure: { name: "provider_down" } });
	});
	it("tells nothing of an answer that comes after the next was asked, also for the same", async () => {
		const p = panel();
		const all = [p.ask(query), p.ask(other), p.ask(other)];
		p.calls[1]!.answer({ offers: [offer], failures: {} });
		p.calls[0]!.refuse(new Failure(down));
		p.calls[2]!.answer({ offers: [], failures: {} });
		await Promise.all(all);
		expect(told.map((e) => e.event)).toEqual(["asked", "asked", "asked", "offered"]);
		expect(told[3]).toMatchObject({ offers: [] });
	});
	it("tells nothing once it was stopped", async () => {
		const p = panel();
		const done = p.ask(query);
		p.asked.current = undefined; // as in the review
		p.calls[0]!.answer({ offers: [offer], failures: {} });
		await done;
		expect(told).toHaveLength(1);
	});
	it("stops the watch when there is nothing to ask any more, and that once", async () => {
		const p = panel();
		void p.ask(query);
		await p.ask(undefined);
		await p.ask(undefined);
		expect(p.calls.map((c) => [c.method, c.params])).toEqual([["swap.quote", { ...query, watch: true }], ["swap.watch", { stop: true }]]);
		p.calls[1]!.refuse(new Failure(down)); // the rejection must be caught
		await vi.waitFor(() => expect(told.at(-1)).toEqual({ event: "asked", query: undefined }));
	});
});

describe("left", () => {
	const review = { terms: { account: "0xA", srcChainId: 1 } } as Review;
	const owner = { account: "0xA", chainId: 1 };
	const at = (stage: Stage): PanelState => ({ ...start, quotes: { ...start.quotes, query }, stage });
	const reviewed = at({ at: "review", review, acknowledged: [] });

	it("leaves a plan that is being built when the form asks for something else, or nothing", () => {
		const preparing = at({ at: "preparing", offer: "a" });
		expect([query, { ...query }, other, undefined].map((q) => planAbandoned(preparing, q, owner))).toEqual([false, false, true, true]);
	});
	it("keeps a plan that was built, whatever stands in the form, while account, network and slippage are its own", () => {
		expect([query, other, undefined].map((q) => planAbandoned(reviewed, q, owner))).toEqual([false, false, false]);
		expect(planAbandoned(reviewed, { ...query, slippage: 1 }, owner)).toBe(true);
	});
	it("leaves the plan of another account or network, also with an empty form", () => {
		for (const stranger of [{ ...owner, account: "0xB" }, { ...owner, account: undefined }, { ...owner, chainId: 8453 }]) {
			expect([query, undefined].map((q) => planAbandoned(reviewed, q, stranger))).toEqual([true, true]);
		}
	});
	it("has nothing to leave in the form", () => expect(planAbandoned(at({ at: "form" }), other, { account: undefined, chainId: 0 })).toBe(false));
});

describe("renewed", () => {
	const at = (id: string, routing: string, expires = "2999-01-01T00:00:00Z") => ({ id, routing, expires }) as Offer;
	const shown = { offer: at("old", "RFQ") } as Review;
	it.each<[string, Offer[], string | undefined]>([
		["the accepted route", [at("a", "JAM"), at("b", "RFQ")], "b"],
		["nothing, where that is gone", [at("a", "JAM"), at("b", "OTHER")], undefined],
		["no offer that is over", [at("a", "JAM"), at("b", "RFQ", "2020-01-01T00:00:00Z")], undefined],
		["nothing", [], undefined],
	])("prepares %s", async (_, offers, want) => {
		const calls: [string, unknown][] = [];
		const channel = { call: async (method: string, params: unknown) => (calls.push([method, params]), method === "swap.quote" ? { offers } : shown) } as unknown as Channel;
		await prepareRenewal(channel, query, shown);
		expect(calls).toEqual([["swap.quote", query], ...(want ? [["swap.prepare", { offer: want }]] : [])]);
	});
});
