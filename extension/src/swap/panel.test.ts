import { describe, expect, it } from "vitest";
import { Failure } from "../wire/failure";
import { type Effect, type ErrorName, errors, type Finding, type FindingCode, type Offer, type Order, type Review, type Step } from "../wire/protocol";
import { resultOf } from "../wire/recorded";
import { chosenOfferGone } from "./machine";
import { approvals, requiredAcknowledgements, mayConfirm, next, type PanelEvent, type PanelState, start } from "./panel";
import type { Query } from "./quotes";

const recorded = resultOf<Review>("swap", "prepare");
const order = { ...resultOf<Order>("swap", "execute"), id: "o1" };
const finding = (code: FindingCode, severity: Finding["severity"]): Finding => ({ code, severity, text: code });
const approving = (...amounts: string[]): Step => ({
	kind: "call",
	effect: { kind: "approve", chainId: 1, target: "0x", approves: amounts.map((amount) => ({ token: "0xT", spender: "0xS", amount })) },
});
const review = (findings: Finding[] = [], steps: Step[] = [], blocked = false): Review => ({ ...recorded, findings, steps, blocked });
const failure = (name: ErrorName) => new Failure({ code: errors[name].code, message: "", data: { name, retryable: errors[name].retryable, remedy: "" } });
const run = (from: PanelState, ...events: PanelEvent[]) => events.reduce(next, from);

const plain = review();
const two = review([], [approving("1"), approving("2")]);
const query: Query = { account: "0xA", srcChainId: 1, tokenIn: "0x1", amountIn: "5", dstChainId: 1, tokenOut: "0x2", slippage: 0.5 };
const offer = (id: string, route = "pools"): Offer => ({ ...recorded.offer, id, route, expires: "2999-01-01T00:00:00Z" });

const preparing = run(start, { event: "review", offer: "a" });
const reviewing = run(preparing, { event: "reviewed", offer: "a", review: plain });
const approvingOne = run(preparing, { event: "reviewed", offer: "a", review: two }, { event: "confirm", request: "r0" });
const executing = run(reviewing, { event: "confirm", request: "r" });
const tracking = run(executing, { event: "executed", order });
const stages: [PanelState["stage"]["at"], PanelState][] = [
	["form", start], ["preparing", preparing], ["review", reviewing], ["approving", approvingOne], ["executing", executing], ["tracking", tracking],
];

/** Each event, with the stages it changes and the resulting stage. */
const table: [PanelEvent, Partial<Record<PanelState["stage"]["at"], PanelState["stage"]["at"]>>][] = [
	[{ event: "review", offer: "b" }, { form: "preparing" }],
	[{ event: "reviewed", offer: "a", review: plain }, { preparing: "review" }],
	[{ event: "reviewed", offer: "b", review: plain }, {}],
	[{ event: "renewed", of: "another", review: two }, {}],
	[{ event: "acknowledged", code: "gas_excessive", on: true }, {}],
	[{ event: "confirm", request: "q" }, { review: "executing" }],
	[{ event: "approved", approval: 0, request: "q" }, { approving: "approving" }],
	[{ event: "approved", approval: 1, request: "q" }, {}],
	[{ event: "executed", order }, { executing: "tracking" }],
	[{ event: "refused", of: "a", failure: failure("would_revert") }, { preparing: "form" }],
	[{ event: "refused", of: "r", failure: failure("price_refused") }, { executing: "review" }],
	[{ event: "refused", of: "r", failure: failure("plan_unknown") }, { executing: "form" }],
	[{ event: "refused", of: "else", failure: failure("internal") }, {}],
	[{ event: "closed" }, { approving: "review" }],
	[{ event: "back" }, { preparing: "form", review: "form", approving: "form", tracking: "form" }],
];

describe("the stages", () => {
	it.each(stages)("%s can be reached", (at, state) => expect(state.stage.at).toBe(at));
	for (const [event, effects] of table) {
		for (const [at, state] of stages) {
			const to = effects[at];
			const name = `${at}: ${event.event} ${"of" in event ? event.of : "offer" in event ? event.offer : "approval" in event ? event.approval : ""} ${to ? `leads to ${to}` : "changes nothing"}`;
			it(name, () => {
				const after = next(state, event);
				if (to) expect(after.stage.at).toBe(to);
				else expect(after.stage).toEqual(state.stage);
			});
		}
	}
	it.each(stages)("%s: quotes and the choice leave it where it is", (_, state) => {
		const events: PanelEvent[] = [
			{ event: "asked", query }, { event: "offered", query, offers: [offer("a")], done: true, now: 0 }, { event: "tick", now: Date.parse("2999-01-02") },
			{ event: "taken" }, { event: "failed", query, failure: failure("no_route") }, { event: "chose", offer: "z" },
		];
		for (const e of events) expect(next(state, e).stage).toBe(state.stage);
	});
});

describe("consent", () => {
	it("is never handed over but from a review: not one of all short ways leads there", () => {
		const events = table.map(([e]) => e).filter((e) => e.event !== "reviewed");
		let states = [start];
		for (let i = 0; i < 4; i++) states = states.flatMap((s) => events.map((e) => next(s, e)));
		expect(states.some((s) => s.stage.at === "executing" || s.stage.at === "tracking")).toBe(false);
	});
	it("is of the plan that was shown, under the uuid of the press", () => expect(executing.stage).toEqual({ at: "executing", review: plain, acknowledged: [], request: "r" }));
	it("is handed over once: a second press, and going back, change nothing", () => {
		for (const e of [{ event: "confirm", request: "r2" }, { event: "approved", approval: 0, request: "r2" }, { event: "back" }] as PanelEvent[]) expect(next(executing, e)).toBe(executing);
	});
	it("waits for each approval to be shown, and the uuid is that of the last", () => {
		expect(approvingOne.stage).toMatchObject({ at: "approving", approval: 0 });
		const second = next(approvingOne, { event: "approved", approval: 0, request: "r1" });
		expect(second.stage).toMatchObject({ at: "approving", approval: 1 });
		expect(next(second, { event: "approved", approval: 0, request: "r1" }).stage).toEqual(second.stage); // a double click
		expect(next(second, { event: "confirm", request: "x" }).stage).toEqual(second.stage);
		expect(next(second, { event: "approved", approval: 1, request: "r2" }).stage).toEqual({ at: "executing", review: two, acknowledged: [], request: "r2" });
	});
	it("shows each allowance by itself, also of one step", () => {
		const many = review([], [approving("1", "2"), { ...approving(), effect: { kind: "swap", chainId: 1, target: "0x" } }, approving("3")]);
		expect(approvals(many).map((s) => s.effect.approves)).toMatchObject([[{ amount: "1" }], [{ amount: "2" }], [{ amount: "3" }]]);
		expect(approvals(plain)).toEqual([]);
	});
	it("shows what a permit allows once, and not again for the swap that carries it", () => {
		const of = (kind: Effect["kind"], amount: string) => ({ ...approving(amount), effect: { ...approving(amount).effect, kind } });
		expect(approvals(review([], [of("approve", "1"), of("permit", "1"), of("swap", "1")])).map((s) => s.effect.kind)).toEqual(["approve", "permit"]);
		expect(approvals(review([], [of("permit", "1"), of("swap", "2")])).map((s) => s.effect.kind)).toEqual(["permit", "swap"]);
	});
	it("is taken back by closing an approval, which leads to the plan again", () => {
		const closed = next(approvingOne, { event: "closed" });
		expect(closed.stage.at).toBe("review");
		expect(next(closed, { event: "confirm", request: "again" }).stage).toMatchObject({ at: "approving", approval: 0 });
	});
	it("is not possible to what is blocked, whatever is acknowledged", () => {
		const blocked = review([finding("gas_insufficient", "block"), finding("price_unknown", "acknowledge")], [], true);
		const state = run(preparing, { event: "reviewed", offer: "a", review: blocked }, { event: "acknowledged", code: "gas_insufficient", on: true }, { event: "acknowledged", code: "price_unknown", on: true });
		expect(state.stage).toMatchObject({ acknowledged: ["price_unknown"] });
		expect(next(state, { event: "confirm", request: "r" })).toBe(state);
		expect(mayConfirm({ review: blocked, acknowledged: ["gas_insufficient", "price_unknown"] })).toBe(false);
	});
	it("needs every finding that demands it acknowledged, and those alone", () => {
		const risky = review([finding("gas_excessive", "acknowledge"), finding("slippage_high", "warn"), finding("price_impact", "acknowledge"), finding("wraps_first", "note")]);
		expect(requiredAcknowledgements(risky)).toEqual(["gas_excessive", "price_impact"]);
		const shown = run(preparing, { event: "reviewed", offer: "a", review: risky });
		const one = next(shown, { event: "acknowledged", code: "gas_excessive", on: true });
		const strange = next(one, { event: "acknowledged", code: "slippage_high", on: true });
		const twice = next(strange, { event: "acknowledged", code: "gas_excessive", on: true });
		const both = next(twice, { event: "acknowledged", code: "price_impact", on: true });
		for (const s of [shown, one, twice]) expect(next(s, { event: "confirm", request: "r" }).stage.at).toBe("review");
		expect(next(both, { event: "confirm", request: "r" }).stage).toMatchObject({ at: "executing", acknowledged: ["gas_excessive", "price_impact"] });
		const taken = next(both, { event: "acknowledged", code: "gas_excessive", on: false });
		expect(next(taken, { event: "confirm", request: "r" }).stage.at).toBe("review");
	});
	it("of one review is not that of the next: nothing stays acknowledged", () => {
		const risky = review([finding("gas_excessive", "acknowledge")]);
		const state = run(preparing, { event: "reviewed", offer: "a", review: risky }, { event: "acknowledged", code: "gas_excessive", on: true }, { event: "back" }, { event: "review", offer: "a" }, { event: "reviewed", offer: "a", review: risky });
		expect(next(state, { event: "confirm", request: "r" })).toBe(state);
	});
	it("once carried out leaves a fresh panel behind the order", () => expect(tracking).toEqual({ ...start, stage: { at: "tracking", order: "o1" } }));
});

describe("a refusal", () => {
	it.each(["plan_unknown", "plan_executed", "quote_unknown", "session_required", "locked"] as const)("%s leaves nothing to review", (name) => {
		const after = next(executing, { event: "refused", of: "r", failure: failure(name) });
		expect(after).toMatchObject({ stage: { at: "form" }, failure: { name } });
	});
	it.each(["quote_expired", "daemon_lost", "timed_out", "needs_acknowledge", "insufficient_gas", "price_refused", "internal"] as const)("%s leads back to the review with what was acknowledged", (name) => {
		const after = next(executing, { event: "refused", of: "r", failure: failure(name) });
		expect(after).toMatchObject({ stage: { at: "review", review: plain, acknowledged: [] }, failure: { name } });
	});
	it("of an act that was left is nobody's: the next one goes on", () => {
		const other = run(preparing, { event: "back" }, { event: "review", offer: "b" });
		expect(next(other, { event: "refused", of: "a", failure: failure("would_revert") })).toBe(other);
		expect(next(other, { event: "reviewed", offer: "a", review: plain })).toBe(other);
		expect(next(tracking, { event: "refused", of: "a", failure: failure("would_revert") })).toBe(tracking);
	});
	it("is shown until the next act", () => {
		const after = next(executing, { event: "refused", of: "r", failure: failure("internal") });
		expect(next(after, { event: "confirm", request: "r2" }).failure).toBeUndefined();
		expect(next(after, { event: "back" }).failure).toBeUndefined();
	});
});

describe("the choice", () => {
	const offered = (offers: Offer[], done = true, of = query): PanelEvent => ({ event: "offered", query: of, offers, done, now: 0 });
	const way = (id: string, routing: string, route: string): Offer => ({ ...offer(id, route), routing });
	const asked: PanelEvent = { event: "asked", query };
	const picked = (offers: Offer[], id: string) => run(start, asked, offered(offers), { event: "chose", offer: id });
	const routes = picked([way("a", "R1", "fast"), way("b", "R2", "cheap")], "b");
	const pools = picked([way("a", "DUTCH_V3", ""), way("b", "CLASSIC", "60 %, 40 %")], "b");
	it.each<[string, PanelState, Offer[], string]>([
		["its route, which has another id", routes, [way("c", "R1", "fast"), way("d", "R2", "cheap")], "d"],
		["its way, by other pools", pools, [way("c", "DUTCH_V3", ""), way("d", "CLASSIC", "55 %, 45 %")], "d"],
		["the same of two of one way", picked([way("a", "R", "fast"), way("b", "R", "cheap")], "b"), [way("c", "R", "fast"), way("d", "R", "cheap")], "d"],
		["what was picked, where that is gone", pools, [way("c", "DUTCH_V3", "")], "b"],
	])("stays with %s", (_, from, offers, id) => expect(next(from, offered(offers)).chosen?.id).toBe(id));
	it("stays while the new quote comes in parts", () => {
		const parts = run(routes, offered([way("c", "R1", "fast")], false));
		expect(parts.chosen?.id).toBe("b");
		expect(run(parts, offered([way("c", "R1", "fast"), way("d", "R2", "cheap")])).chosen?.id).toBe("d");
	});
	it("comes back with its way", () => expect(run(pools, offered([way("c", "DUTCH_V3", "")]), offered([way("d", "CLASSIC", "x"), way("e", "DUTCH_V3", "")])).chosen?.id).toBe("d"));
	it("stays with another amount", () => {
		const more = { ...query, amountIn: "6" };
		expect(run(pools, { event: "asked", query: more }, offered([way("d", "DUTCH_V3", ""), way("e", "CLASSIC", "x")], true, more)).chosen?.id).toBe("e");
	});
	it("ends with another token", () => expect(run(pools, { event: "asked", query: { ...query, tokenOut: "0x9" } }).chosen).toBeUndefined());
	it("is not made where none was", () => expect(run(start, asked, offered([offer("a")]), offered([offer("b")])).chosen).toBeUndefined());
	it("that is not there is missed", () => {
		expect(chosenOfferGone(pools)).toBe(false);
		expect(chosenOfferGone(next(pools, offered([way("c", "DUTCH_V3", "")])))).toBe(true);
		expect(chosenOfferGone(run(start, asked, offered([offer("a")])))).toBe(false);
	});
});

it("a clock that changes nothing draws nothing, unless offers have to be drawn by it", () => {
	expect(next(start, { event: "tick", now: 1 })).toBe(start);
	const shown = run(start, { event: "asked", query }, { event: "offered", query, offers: [offer("a")], done: true, now: 0 });
	expect(next(shown, { event: "tick", now: 1 })).not.toBe(shown);
	expect(next(shown, { event: "tick", now: 1 })).toEqual(shown);
});

describe("a plan whose quote ran out", () => {
	const asks = review([finding("gas_excessive", "acknowledge"), finding("price_unknown", "acknowledge")]);
	const looking = run(preparing, { event: "reviewed", offer: "a", review: asks }, { event: "acknowledged", code: "gas_excessive", on: true }, { event: "acknowledged", code: "price_unknown", on: true });
	const other = { ...review([finding("gas_excessive", "acknowledge"), { ...finding("price_unknown", "acknowledge"), text: "worse" }]), digest: "0xd2" };
	const renewed = run(looking, { event: "renewed", of: asks.digest, review: other });
	it("gives way to the new one, and says so", () => expect(renewed.stage).toMatchObject({ at: "review", review: { digest: "0xd2" }, renewed: 1 }));
	it("keeps what was acknowledged of what is the same alone", () => expect(renewed.stage).toMatchObject({ acknowledged: ["gas_excessive"] }));
	it("keeps nothing of what was acknowledged where less need arrive", () => {
		const less = { ...other, terms: { ...other.terms, minOut: String(BigInt(asks.terms.minOut) - 1n) } };
		expect(run(looking, { event: "renewed", of: asks.digest, review: less }).stage).toMatchObject({ acknowledged: [] });
	});
	it("remembers the least that was shown first", () => {
		const less = { ...other, digest: "0xd4", terms: { ...other.terms, minOut: "1" } };
		expect(run(renewed, { event: "renewed", of: other.digest, review: less }).stage).toMatchObject({ first: asks.terms.minOut, review: { digest: "0xd4" } });
		expect(looking.stage).not.toHaveProperty("first");
	});
	it("is renewed under no act that was taken", () => {
		const before = run(preparing, { event: "reviewed", offer: "a", review: two }, { event: "confirm", request: "r" });
		expect(run(before, { event: "renewed", of: two.digest, review: other })).toBe(before);
	});
	it("under an approval that was read for long leads back to it, and to the new one to be looked at and approved anew", () => {
		const late = run(approvingOne, { event: "approved", approval: 0, request: "r1" }, { event: "approved", approval: 1, request: "r2" }, { event: "refused", of: "r2", failure: failure("quote_expired") });
		expect(late).toMatchObject({ stage: { at: "review", review: two }, failure: { name: "quote_expired" } });
		const again = run(late, { event: "renewed", of: two.digest, review: { ...two, digest: "0xd3" } });
		expect(again).toMatchObject({ stage: { at: "review", review: { digest: "0xd3" }, renewed: 1 } });
		expect(again.failure).toBeUndefined();
		expect(run(again, { event: "confirm", request: "r3" }).stage).toMatchObject({ at: "approving", approval: 0 });
	});
	it("takes no other reason away that stands there", () => {
		const wrong = { ...looking, failure: failure("wrong_password") };
		expect(run(wrong, { event: "renewed", of: asks.digest, review: other }).failure).toBe(wrong.failure);
	});
	it("is still said to be new after an approval that was left, and counts on", () => {
		const left = run({ ...renewed, stage: { at: "review", review: two, acknowledged: [], renewed: 3 } }, { event: "confirm", request: "r" }, { event: "closed" });
		expect(left.stage).toMatchObject({ at: "review", renewed: 3 });
		expect(run(left, { event: "renewed", of: two.digest, review: plain }).stage).toMatchObject({ renewed: 4 });
	});
	it("is renewed once", () => expect(run(renewed, { event: "renewed", of: asks.digest, review: plain })).toBe(renewed));
});
