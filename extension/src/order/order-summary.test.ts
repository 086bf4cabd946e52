/// <reference types="vite/client" />
import { describe, expect, it } from "vitest";
import deOrder from "../../messages/de/order.json";
import deStates from "../../messages/de/states.json";
import enOrder from "../../messages/en/order.json";
import enStates from "../../messages/en/states.json";
import type { Condition, Order, OrderKind, OrderState, ProvenBy, Step } from "../wire/protocol";
import source from "../wire/protocol.ts?raw";
import { endTexts } from "./ends";
import type { Line, OrderFormatter } from "./line";
import { conditions, orderStatus, received, states } from "./status";
import { stepLines, stepMarks } from "./steps";
import { activityTexts, orderSummary } from "./order-summary";
import { conditionCards } from "./condition-cards";

const de = { ...deOrder, ...deStates };
const en = { ...enOrder, ...enStates };

/** union returns the values of a type, read from the generated source, so that a value
 * added there fails the tests until it is handled. */
function union(name: string): string[] {
	const found = new RegExp(`export type ${name} = (.*);`).exec(source);
	return [...(found?.[1] ?? "").matchAll(/"([^"]+)"/g)].map((m) => m[1] ?? "");
}

const allStates = union("OrderState") as OrderState[];
const allConditions = union("Condition") as Condition[];
const allProofs = union("ProvenBy") as ProvenBy[];

const account = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const coin = "0x0000000000000000000000000000000000000000";
const usdc = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const router = "0x66a9893cC07D91D95644AEDD05D03f95e1dBA8Af";
const tx = `0x${"2".repeat(64)}`;
const begun = Date.parse("2026-11-20T09:00:00Z");

const format: OrderFormatter = {
	amount: (chainId, token, units) => `${units}@${token === coin ? "ETH" : "USDC"}/${chainId}`,
	coin: (chainId, wei) => `${wei}@coin/${chainId}`,
	network: (chainId) => `net ${chainId}`,
	list: (names) => names.join(" and "),
	account: (address) => (address === account ? "Account 1" : address.slice(0, 6)),
	provider: (kind) => kind,
	trusted: (who) => (who === "relay_solver" ? "Relay" : who),
	time: (time) => time,
};

const call = (kind: Step["effect"]["kind"], more: Partial<Step["effect"]> = {}): Step => ({ kind: "call", effect: { kind, chainId: 1, target: router, ...more } });
const signed: Step = { kind: "typed", effect: { kind: "order", chainId: 1, target: router, deadline: "2026-11-20T09:05:00Z" } };
const steps: Record<OrderKind, Step[]> = {
	dex: [call("approve", { approves: [{ token: usdc, spender: router, amount: "5" }] }), call("swap")],
	bridge: [call("deposit", { trustedTo: "relay_solver" })],
	intent: [call("opaque", { trustedTo: "intent_fillers" })],
	gasless: [signed],
	wallet: [call("approve", { approves: [{ token: usdc, spender: router, amount: "0" }] })],
};

function order(provider: OrderKind, more: Partial<Order> = {}): Order {
	const terms: Order["terms"] = {
		provider, account, srcChainId: 1, tokenIn: coin, amountIn: "1000", dstChainId: provider === "bridge" || provider === "intent" ? 10 : 1, tokenOut: usdc,
		recipient: account, minOut: "900", deadline: "2026-11-20T09:20:00Z", refundTo: account, feeBps: 20, gasCeiling: "50",
	};
	const offer = { id: "o", provider, account, srcChainId: 1, tokenIn: coin, amountIn: "1000", dstChainId: 1, tokenOut: usdc, amountOut: "1000", minAmountOut: "900", recipient: account, refundTo: account, slippage: 0.5, routing: "", route: "", durationSeconds: 12, expires: "2026-11-20T09:01:00Z" };
	return {
		id: "order-1", request: "r", digest: tx, origin: "browser", terms, offer, steps: steps[provider], revision: 1, state: "executing",
		final: false, ended: false, step: 0, created: "2026-11-20T09:00:00Z", updated: "2026-11-20T09:00:00Z", ...more,
	};
}

const finals: readonly OrderState[] = ["filled", "refunded", "failed", "expired", "cancelled"];
const living = allStates.filter((s) => !finals.includes(s) && s !== "closed" && s !== "unreadable");
const endOf: Record<ProvenBy, OrderState> = {
	own_call: "filled", opaque_call: "filled", fill: "filled", partial_fill: "filled", arrival: "filled", revoke: "filled", refund: "refunded", revert: "failed", tx_replaced: "failed",
	allowance_kept: "failed", order_nonce_used: "failed", absence: "expired", never_signed: "expired", never_sent: "expired", invalidated: "cancelled", cancel: "cancelled", withdrawn: "cancelled",
	never_sent_cancelled: "cancelled",
};
const evidence = { chainId: 1, tx, block: 7, blockHash: tx, success: true, depth: 2, gasUsed: 1, feePaid: "33", hosts: ["a", "b"], to: router };

const ended = (by: ProvenBy, more: Partial<NonNullable<Order["verdict"]>> = {}, provider: OrderKind = "dex", rest: Partial<Order> = {}): Order =>
	order(provider, { state: endOf[by], final: true, ended: true, step: 2, verdict: { state: endOf[by], provenBy: by, sources: "two_hosts", ...more }, ...rest });

/** linesOf returns every line of a summary, to be looked up in the messages. */
function linesOf(o: Order, now = begun): Line[] {
	const s = orderSummary(o, format, now);
	const card = s.card ? [s.card.title, ...s.card.text, ...s.card.lines.map((l) => l.text)] : [];
	return [s.status.words, s.now, s.close, ...card, ...s.steps.flatMap((l) => [l.title, l.note]), typeof s.cancel === "object" ? s.cancel : undefined].filter((l) => l !== undefined);
}

function inBothLanguages(lines: readonly Line[]): void {
	for (const { key, values } of lines) {
		for (const messages of [en, de] as Record<string, string>[]) {
			expect(messages, key).toHaveProperty(key);
			const wanted = [...(messages[key] ?? "").matchAll(/\$([1-9])/g)].map((m) => Number(m[1]));
			expect(Math.max(0, ...wanted), `${key} has what its words name`).toBeLessThanOrEqual(values.length);
		}
	}
}

describe("the tables have no gaps", () => {
	it("reads the protocol", () => {
		expect([allStates.length, allConditions.length, allProofs.length].every((n) => n > 9)).toBe(true);
	});
	it.each([
		["states", states, allStates], ["conditions", conditions, allConditions], ["waits", conditionCards, allConditions], ["ends", endTexts, allProofs],
		["what is being done", activityTexts, living],
	] as const)("%s", (_, table, all) => expect(Object.keys(table).sort()).toEqual([...all].sort()));
	it("both languages have the same messages with the same places", () => {
		expect(Object.keys(de).sort()).toEqual(Object.keys(en).sort());
		const places = (text: string) => [...text.matchAll(/\$[1-9]/g)].map((m) => m[0]).sort().join();
		for (const [key, text] of Object.entries(en)) expect(places((de as Record<string, string>)[key] ?? ""), key).toBe(places(text));
	});
});

describe("every state with every condition, of every provider, is told", () => {
	const kinds = union("OrderKind") as OrderKind[];
	it.each(living)("%s", (state) => {
		for (const provider of kinds) {
			for (const condition of [undefined, ...allConditions]) {
				const told = order(provider, { state, ...(condition ? { condition } : {}), reason: "because" });
				inBothLanguages(linesOf(told));
				const s = orderSummary(told, format, begun);
				expect([s.now === undefined, s.close === undefined]).toEqual([condition !== undefined, false]);
				expect(s.steps.filter((l) => l.mark === "active" || l.mark === "waiting"), `${provider} ${state} ${condition}: one step is under way`).toHaveLength(1);
				expect(s.card === undefined).toBe(condition === undefined);
			}
		}
	});
	it.each(allProofs)("ended by %s", (by) => {
		for (const provider of kinds) {
			const told = ended(by, { evidence }, provider, { leftovers: [{ chainId: 1, token: usdc, spender: router, amount: "1" }] });
			inBothLanguages(linesOf(told));
			const s = orderSummary(told, format, begun);
			expect(s.card).toBeDefined();
			expect(s.now ?? s.close ?? s.cancel).toBeUndefined();
			expect(s.steps.some((l) => l.mark === "active" || l.mark === "waiting" || l.mark === "preview")).toBe(false);
		}
	});
	it("an end of an older version, which does not say what proved it", () => {
		for (const state of finals) inBothLanguages(linesOf(order("dex", { state, final: true, ended: true, verdict: { state, sources: "one_host" } })));
	});
	it("says of a damaged record that nothing is known, and offers nothing", () => {
		for (const final of [true, false]) {
			const lost = order("dex", { state: "unreadable", final, reason: "unexpected end", steps: [], terms: { ...order("dex").terms, srcChainId: 0, dstChainId: 0 } });
			inBothLanguages(linesOf(lost));
			const told = orderSummary(lost, format, begun);
			expect(told.card?.title.key).toBe("order_unreadable_title");
			expect(told.status.tone).toBe("critical");
			expect([told.cancel, told.speedup, told.now, told.close, told.steps.length]).toEqual([undefined, undefined, undefined, undefined, 0]);
		}
	});

	it("a state and a condition of a newer version, by their codes", () => {
		const strange = order("dex", { state: "dancing" as OrderState, final: true, ended: true });
		expect(orderSummary(strange, format, begun).status.words.values).toEqual(["dancing"]);
		inBothLanguages(linesOf(strange));
		const waiting = order("dex", { condition: "waiting for rain" as Condition });
		expect(orderSummary(waiting, format, begun).card?.title.values).toEqual(["waiting for rain"]);
	});
	it("each mark of a step has its words", () => inBothLanguages(Object.values(stepMarks).map((key) => ({ key, values: [] }))));
});

describe("an end", () => {
	it("says exactly what arrived", () => {
		const { card } = orderSummary(ended("own_call", { received: { token: usdc, amount: "999" } }), format, begun);
		expect(card?.title).toEqual({ key: "order_received_title", values: ["999@USDC/1"] });
		expect(card?.tone).toBe("good");
	});
	it("says at least the floor where nobody shows what arrived", () => {
		expect(orderSummary(ended("own_call"), format, begun).card?.title).toEqual({ key: "order_received_least_title", values: ["900@USDC/1"] });
	});
	it("says what is missing of the floor", () => {
		const { card, status } = orderSummary(ended("arrival", { received: { token: usdc, amount: "850" }, belowMinimum: true }, "bridge"), format, begun);
		expect(card?.text).toContainEqual({ key: "order_short", values: ["50@USDC/10", "900@USDC/10"] });
		expect([card?.tone, status.words.key]).toEqual(["warn", "state_filled_short"]);
	});
	it("says what of a part did not leave", () => {
		const { card } = orderSummary(ended("partial_fill", { received: { token: usdc, amount: "900" }, spent: { token: coin, amount: "600" } }, "gasless"), format, begun);
		expect(card?.text).toContainEqual({ key: "order_partly", values: ["600@ETH/1", "400@ETH/1"] });
	});
	it("names another recipient in full", () => {
		const there = ended("own_call", { received: { token: usdc, amount: "999" } });
		const { card } = orderSummary({ ...there, terms: { ...there.terms, recipient: router } }, format, begun);
		expect(card?.text[0]).toEqual({ key: "order_received_there", values: [router, "net 1"] });
	});
	it("of a refund has amount, chain and hash", () => {
		const { card } = orderSummary(ended("refund", { received: { token: coin, amount: "990" }, belowMinimum: true, evidence, deposit: { ...evidence, tx: `0x${"3".repeat(64)}` } }, "bridge"), format, begun);
		expect(card?.title).toEqual({ key: "order_refunded_title", values: ["990@ETH/1"] });
		expect(card?.text.map((l) => l.key)).toEqual(["order_refunded_where", "order_by_refund", "order_refunded_short"]);
		expect(card?.text[2]?.values).toEqual(["10@ETH/1"]);
		expect(card?.links).toContainEqual({ label: "order_link_refund", chainId: 1, tx });
	});
	it.each(allProofs.filter((by) => !["filled", "refunded"].includes(endOf[by])))("%s has exactly the four lines of a failure", (by) => {
		const { card } = orderSummary(ended(by), format, begun);
		expect(card?.lines.map((l) => l.label)).toEqual(["order_line_happened", "order_line_funds", "order_line_next", "order_line_do"]);
		expect(card?.text).toEqual([]);
	});
	it("says where the funds are: kept, kept less gas, wrapped, or an allowance that stands", () => {
		const funds = (o: Order) => orderSummary(o, format, begun).card?.lines[1]?.text;
		expect(funds(ended("absence"))).toEqual({ key: "order_funds_kept", values: ["1000@ETH/1", "Account 1", "net 1"] });
		expect(funds(ended("revert", { evidence }))).toEqual({ key: "order_funds_gas", values: ["1000@ETH/1", "Account 1", "net 1", "33@coin/1"] });
		expect(funds(ended("absence", {}, "gasless", { wrapped: true }))?.key).toBe("order_funds_wrapped");
		expect(funds(ended("allowance_kept", {}, "wallet"))?.key).toBe("order_funds_allowance");
	});
	it("says of what was moved to a throwaway account that it comes back, came back or stays", () => {
		const moved = [{ ...call("fund", { spends: [{ token: usdc, amount: "1000" }] }), done: true, tx }, { ...call("fund", { spends: [{ token: coin, amount: "40" }] }), done: true, tx }, steps.intent[0]!];
		const funds = (more: Partial<Order>, tokenIn = usdc) => {
			const o = ended("revert", { evidence }, "intent", { steps: moved, ...more });
			return orderSummary({ ...o, terms: { ...o.terms, tokenIn, isolated: router } }, format, begun).card?.lines[1]?.text;
		};
		const at = ["Account 1", "net 1"];
		expect(funds({})).toEqual({ key: "order_funds_isolated", values: ["1000@USDC/1", ...at] });
		expect(funds({ isolation: { returned: [{ token: coin, amount: "7", tx }] } })?.key).toBe("order_funds_isolated_taken");
		expect(funds({ isolation: { returned: [{ token: usdc, amount: "1000", tx }] } })).toEqual({ key: "order_funds_returned", values: ["1000@USDC/1", ...at] });
		expect(funds({ isolation: { left: [{ token: usdc, amount: "1000" }] } })).toEqual({ key: "order_funds_isolated_left", values: ["1000@USDC/1", ...at] });
		expect(funds({ isolation: { returned: [{ token: coin, amount: "990", tx }] } }, coin)).toEqual({ key: "order_funds_returned", values: ["990@ETH/1", ...at] });
		expect(funds({ steps: moved.map(({ done: _, ...s }) => s) })?.key).toBe("order_funds_gas");
		inBothLanguages([funds({})!, funds({ isolation: { left: [{ token: usdc, amount: "1000" }] } })!, funds({ isolation: { returned: [{ token: usdc, amount: "1000", tx }] } })!]);
	});
	it("tells a refusal from a withdrawal", () => {
		const first = (o: Order) => orderSummary(o, format, begun).card?.lines[0]?.text.key;
		expect(first(ended("withdrawn"))).toBe("order_by_refused");
		expect(orderSummary(ended("withdrawn"), format, begun).card?.lines[3]?.text.key).toBe("order_do_again");
		expect(first(ended("withdrawn", {}, "dex", { cancel: true }))).toBe("order_by_withdrawn");
	});
	it("of a revoke has its own words", () => {
		const { card, status } = orderSummary(ended("revoke", {}, "wallet"), format, begun);
		expect([card?.title.key, status.words.key]).toEqual(["order_revoked_title", "state_revoked"]);
	});
});

describe("steps", () => {
	const marks = (o: Order) => stepLines(o, format).map((s) => s.mark);
	it("go one after the other", () => {
		expect(marks(order("dex", { state: "approving" }))).toEqual(["active", "preview", "preview"]);
		const approved = [{ ...steps.dex[0]!, done: true, tx }, steps.dex[1]!];
		expect(marks(order("dex", { steps: approved, step: 1 }))).toEqual(["done", "active", "preview"]);
		expect(marks(order("dex", { steps: approved, step: 1, condition: "waiting_unlock" }))).toEqual(["done", "waiting", "preview"]);
		expect(marks(order("dex", { steps: approved, step: 2, state: "settling" }))).toEqual(["done", "done", "active"]);
		expect(marks(order("dex", { steps: approved.map((s) => ({ ...s, done: true })), step: 2, state: "filled", final: true, ended: true }))).toEqual(["done", "done", "done"]);
	});
	it("show what was not needed, what failed and what never came", () => {
		expect(marks(order("dex", { steps: [{ ...steps.dex[0]!, skipped: true }, steps.dex[1]!], step: 1 }))).toEqual(["skipped", "active", "preview"]);
		expect(marks(order("dex", { state: "failed", final: true, ended: true, step: 0 }))).toEqual(["failed", "dropped", "dropped"]);
	});
	it("link a finished step, and the transaction on its way", () => {
		const lines = stepLines(order("dex", { steps: [{ ...steps.dex[0]!, done: true, tx }, steps.dex[1]!], step: 1, currentTx: `0x${"9".repeat(64)}` }), format);
		expect(lines.map((l) => l.link?.tx)).toEqual([tx, `0x${"9".repeat(64)}`, undefined]);
	});
	it("say what goes to the throwaway account, and what of it is for network fees", () => {
		const fund = (token: string, amount: string) => call("fund", { spends: [{ token, amount }] });
		const titles = (tokenIn: string, ...first: Step[]) => {
			const o = order("intent", { steps: [...first, steps.intent[0]!] });
			const lines = stepLines({ ...o, terms: { ...o.terms, tokenIn, isolated: router } }, format).slice(0, first.length).map((l) => l.title);
			inBothLanguages(lines);
			return lines;
		};
		expect(titles(usdc, fund(usdc, "1000"), fund(coin, "40"))).toEqual([
			{ key: "order_step_fund", values: ["1000@USDC/1"] }, { key: "order_step_fund_gas", values: ["40@ETH/1"] },
		]);
		expect(titles(coin, fund(coin, "1040"))).toEqual([{ key: "order_step_fund_both", values: ["1040@ETH/1", "40@ETH/1"] }]);
	});
	it("of a signed order hand it over, and a deposit is paid out elsewhere", () => {
		expect(stepLines(order("gasless", { state: "submitting" }), format).map((l) => [l.title.key, l.mark])).toEqual([["order_step_order", "done"], ["order_step_submit", "active"], ["order_step_settle_signed", "preview"]]);
		expect(stepLines(order("bridge", { state: "settling", step: 1 }), format).at(-1)).toMatchObject({ title: { values: ["Relay", "net 10"] }, mark: "active" });
	});
});

describe("what a person can do", () => {
	it("is to cancel while it is in the wallet's hands", () => {
		expect(orderSummary(order("dex"), format, begun).cancel).toBe(true);
		expect(orderSummary(order("gasless", { state: "settling" }), format, begun).cancel).toBe(true);
		expect(orderSummary(order("bridge", { state: "settling" }), format, begun).cancel).toEqual({ key: "order_handed_over", values: ["Relay"] });
		expect(orderSummary(order("dex", { state: "settling" }), format, begun).cancel).toBeUndefined();
		expect(orderSummary(order("dex", { cancel: true }), format, begun).cancel).toBeUndefined();
	});
	it("is to speed up what is on its way", () => {
		const attempts: Order["attempts"] = [{ kind: "call", tx, maxFeePerGas: "1", maxPriorityFeePerGas: "1", signed: "2026-11-20T09:00:00Z" }];
		expect(orderSummary(order("dex"), format, begun).speedup).toBeUndefined();
		expect(orderSummary(order("dex", { attempts }), format, begun).speedup).toBe("transaction");
		const asked = orderSummary(order("dex", { attempts, speedup: "fast" }), format, begun);
		expect([asked.speedup, asked.now?.key]).toEqual([undefined, "order_now_speedup_fast"]);
	});
	it("is to have cancelling cost more, where the gas ceiling keeps it back", () => {
		const attempts: Order["attempts"] = [{ kind: "call", tx, maxFeePerGas: "1", maxPriorityFeePerGas: "1", signed: "2026-11-20T09:00:00Z" }];
		expect(orderSummary(order("dex", { attempts, cancel: true }), format, begun).speedup).toBeUndefined();
		expect(orderSummary(order("dex", { attempts, condition: "cancelling" }), format, begun).speedup).toBeUndefined();
		expect(orderSummary(order("dex", { attempts, cancel: true, reason: "too dear" }), format, begun).speedup).toBe("cancelling");
		expect(orderSummary(order("dex", { cancel: true, reason: "too dear" }), format, begun).speedup).toBeUndefined();
	});
	it("is to wait no longer than the order lives", () => {
		expect(orderSummary(order("gasless", { state: "settling" }), format, begun).until).toEqual({ label: "order_ends_label", time: "2026-11-20T09:05:00Z" });
		expect(orderSummary(order("dex", { condition: "needs_consent" }), format, begun).until).toEqual({ label: "order_until_label", time: "2026-11-20T09:20:00Z" });
		expect(orderSummary(order("dex"), format, begun).until).toBeUndefined();
		expect(orderSummary(order("gasless", { state: "settling" }), format, begun + 600_000).now?.key).toBe("order_now_past");
	});
});

it("calls a settling that takes long still tracking, and no failure", () => {
	const settling = order("bridge", { state: "settling" });
	expect(orderSummary(settling, format, begun + 100_000).card).toBeUndefined();
	expect(orderSummary(settling, format, begun + 121_000).card?.title.key).toBe("order_tracking_title");
	const later = [{ time: "2026-11-20T09:01:00Z", state: "settling" as const, step: 1 }];
	expect(orderSummary(settling, format, begun + 121_000, later).card).toBeUndefined();
});

it("shows what was seen, said and is not proven", () => {
	const { card } = orderSummary(order("bridge", {
		state: "settling", condition: "payment_seen", reported: true, claim: { state: "filled", providerStatus: "success", chainId: 10, tx },
		candidatePayment: { end: "filled", chainId: 10, tx, token: usdc, amount: "950", from: router },
	}), format, begun);
	expect(card?.text[0]?.values).toEqual(["950@USDC/10", "0x66a9", "net 10"]);
	expect(card?.lines.map((l) => l.label)).toEqual(["order_told_says", "order_told_unproven", "order_told_next", "order_told_do"]);
	expect([card?.said, card?.links.length]).toEqual([{ by: "provider", words: "success" }, 2]);
});

it("says of a payment that the provider names that it is received, and not linked", () => {
	const told = order("intent", {
		state: "settling", condition: "likely_paid", reported: true, ended: true, claim: { state: "filled", chainId: 10, tx },
		candidatePayment: { end: "filled", chainId: 10, tx, token: usdc, amount: "950", from: router },
	});
	const { card, status, cancel, close } = orderSummary(told, format, begun);
	expect([card?.title.key, card?.text[0]?.key, card?.tone, status.words.key]).toEqual(["order_likely_title", "order_likely_what", "good", "condition_likely_paid"]);
	expect([received(told), cancel, close]).toEqual([true, undefined, undefined]);
});

it("says of a closed order who closed it, what was known, and whether it is still watched", () => {
	for (const by of ["person", "age"] as const) {
		for (const watched of [true, false]) {
			const claimed = { state: "failed" as const };
			const told = order("intent", { state: "closed", ended: true, steps: order("intent").steps.map((s) => ({ ...s, done: true })), closing: { at: "2026-11-20T12:00:00Z", by, watched, claim: claimed } });
			const { card, close, cancel, steps } = orderSummary(told, format, begun);
			inBothLanguages(linesOf(told));
			expect(card?.lines.map((l) => l.text.key)).toEqual([
				by === "person" ? "order_closed_person" : "order_closed_age", "order_claim_failed", watched ? "order_closed_watched" : "order_closed_unwatched", "order_closed_do",
			]);
			expect([received(told), close, cancel, steps.at(-1)?.mark]).toEqual([false, undefined, undefined, "waiting"]);
		}
	}
});

it("says of an order that was closed with its network what cannot be done any more", () => {
	const told = order("dex", { state: "closed", ended: true, closing: { at: "2026-11-20T12:00:00Z", by: "person", watched: false } });
	inBothLanguages(linesOf(told));
	expect(orderSummary(told, format, begun).card?.lines.at(-1)?.text.key).toBe("order_closed_ended_do");
	expect(orderSummary(order("dex", { state: "executing", canCloseFrom: "2026-11-20T09:30:00Z" }), format, Date.parse("2026-11-20T09:30:00Z")).stop).toBe(true);
});

it("offers to stop waiting from the time that the daemon says", () => {
	const waits = order("intent", { state: "settling", canCloseFrom: "2026-11-20T09:30:00Z" });
	expect(orderSummary(waits, format, Date.parse("2026-11-20T09:29:59Z")).stop).toMatchObject({ key: "order_stop_from" });
	expect(orderSummary(waits, format, Date.parse("2026-11-20T09:30:00Z")).stop).toBe(true);
	expect(orderSummary(order("dex", { state: "settling" }), format, begun + 1e9).stop).toBeUndefined();
});

it("lets a condition go before the state, until it ends", () => {
	expect(orderStatus(order("dex", { condition: "cancelling" })).words.key).toBe("condition_cancelling");
	expect(orderStatus(order("dex", { condition: "cancelling", state: "cancelled", final: true, ended: true })).words.key).toBe("state_cancelled");
});
