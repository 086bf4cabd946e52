import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Channel } from "../state/channel";
import { Failure, failureOf } from "../wire/failure";
import type { Link } from "../wire/link";
import { type ErrorName, errors, type Methods, type Order } from "../wire/protocol";
import { execute } from "./consent";

const failure = (name: ErrorName, details?: Record<string, string>) =>
	new Failure({ code: errors[name].code, message: name, data: { name, retryable: errors[name].retryable, remedy: "", ...(details ? { details } : {}) } });
const made = { id: "o", request: "r" } as Order;
const another = { id: "p", request: "s" } as Order;
const consent = { review: { digest: "0xd" }, acknowledged: ["gas_excessive"], request: "r" } as const;

/** daemon returns a channel with scripted answers by method. */
function daemon(answers: Partial<Record<keyof Methods, unknown[]>>) {
	const calls: [string, unknown][] = [];
	const links = new Set<(link: Link) => void>();
	const channel = {
		call: async (method: keyof Methods, params: unknown) => {
			calls.push([method, params]);
			const answer = answers[method]?.shift() ?? failure("daemon_lost");
			if (answer instanceof Error) throw answer;
			return answer;
		},
		onLink: (listener: (link: Link) => void) => {
			links.add(listener);
			return () => void links.delete(listener);
		},
	} as unknown as Channel;
	const link = (at: Link["at"]) => {
		for (const listener of [...links]) listener({ at } as Link);
	};
	return { channel, calls, links, link, executions: () => calls.filter(([m]) => m === "swap.execute") };
}

/** end records how an execution ends. */
function end(asked: Promise<Order>): { is: unknown } {
	const seen: { is: unknown } = { is: "pending" };
	asked.then((order) => (seen.is = order), (thrown) => (seen.is = failureOf(thrown).name));
	return seen;
}

const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	expect(vi.getTimerCount()).toBe(0);
	vi.useRealTimers();
});

describe("consent", () => {
	it("is handed over once, with the digest that was shown and what was acknowledged", async () => {
		const d = daemon({ "swap.execute": [made] });
		expect(await execute(d.channel, consent)).toBe(made);
		expect(d.calls).toEqual([["swap.execute", { request: "r", digest: "0xd", acknowledge: ["gas_excessive"] }]]);
	});
	it("carries the password where one is given", async () => {
		const d = daemon({ "swap.execute": [made] });
		expect(await execute(d.channel, consent, "five broken umbrellas")).toBe(made);
		expect(d.calls).toEqual([["swap.execute", { request: "r", digest: "0xd", acknowledge: ["gas_excessive"], password: "five broken umbrellas" }]]);
	});
	it.each(["plan_unknown", "consent_password", "wrong_password", "needs_acknowledge", "insufficient_gas", "session_required", "internal", "journal_failed"] as const)("that is refused (%s) is not looked for", async (name) => {
		const d = daemon({ "swap.execute": [failure(name)] });
		await expect(execute(d.channel, consent)).rejects.toMatchObject({ name });
		expect(d.calls).toHaveLength(1);
	});
	it.each(["daemon_lost", "stopping", "timed_out"] as const)("whose answer is lost (%s) is looked for in the daemon's book, by its uuid", async (name) => {
		const d = daemon({ "swap.execute": [failure(name)], "swap.orders": [{ orders: [another, made] }] });
		expect(await execute(d.channel, consent)).toBe(made);
		expect(d.executions()).toHaveLength(1);
	});
	it("is looked for once the daemon is there again", async () => {
		const d = daemon({ "swap.execute": [failure("daemon_lost")], "swap.orders": [failure("daemon_lost"), { orders: [made] }] });
		const e = end(execute(d.channel, consent));
		await settle();
		d.link("lost");
		d.link("connecting");
		await settle(30_000);
		expect(e.is).toBe("pending");
		d.link("ready");
		await settle();
		expect(e.is).toBe(made);
		expect([d.links.size, d.executions().length]).toEqual([0, 1]);
	});
	it("that was still on its way is found at the second look", async () => {
		const d = daemon({ "swap.execute": [failure("daemon_lost")], "swap.orders": [{ orders: [another] }, { orders: [made, another] }] });
		const e = end(execute(d.channel, consent));
		await settle(2_000);
		expect(e.is).toBe(made);
	});
	it("that the daemon never had is told as lost, and never given again by itself", async () => {
		const d = daemon({ "swap.execute": [failure("daemon_lost")], "swap.orders": [{ orders: [] }, { orders: [another] }] });
		const e = end(execute(d.channel, consent));
		await settle(2_000);
		expect(e.is).toBe("daemon_lost");
		expect(d.executions()).toHaveLength(1);
	});
	it("is given up a minute after a daemon that does not come back", async () => {
		const d = daemon({ "swap.execute": [failure("timed_out")] });
		const e = end(execute(d.channel, consent));
		await settle(59_999);
		expect(e.is).toBe("pending");
		await settle(1);
		expect(e.is).toBe("timed_out");
		expect(d.links.size).toBe(0);
	});
	it("is looked for however often the link flickers, and ends", async () => {
		const d = daemon({ "swap.execute": [failure("daemon_lost")] });
		const e = end(execute(d.channel, consent));
		for (let i = 0; i < 59; i++) {
			await settle(1_000);
			d.link("ready");
		}
		await settle(1_000);
		expect(e.is).toBe("daemon_lost");
		expect(d.executions()).toHaveLength(1);
	});
	it("to a plan that became an order already leads to that order", async () => {
		const d = daemon({ "swap.execute": [failure("plan_executed", { order: "o" })], "swap.order": [{ order: made, history: [] }] });
		expect(await execute(d.channel, consent)).toBe(made);
		expect(d.calls.at(-1)).toEqual(["swap.order", { order: "o" }]);
	});
	it.each([[undefined], [{ order: "o" }]])("to a plan that became an order which cannot be shown says so (%j)", async (details) => {
		const d = daemon({ "swap.execute": [failure("plan_executed", details)] });
		await expect(execute(d.channel, consent)).rejects.toMatchObject({ name: "plan_executed" });
	});
});
