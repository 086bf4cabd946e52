import { describe, expect, it } from "vitest";
import type { Provider } from "../wire/protocol";
import { endpointState, networkState, supportOf } from "./network-health";

describe("a network", () => {
	const good = { host: "a.example", block: 7 };
	const bad = { host: "b.example", failure: "no answer" };
	const behind = { host: "c.example", block: 2, behind: true };
	const unused = { host: "d.example" };
	it("stands as its endpoints do", () => {
		expect([good, bad, behind, unused].map(endpointState)).toEqual(["answers", "fails", "behind", "unused"]);
		expect(networkState({ rpc: [good, good] })).toEqual({ state: "good", answering: 2, all: 2 });
		expect(networkState({ rpc: [good, unused] }).state).toBe("good");
		expect(networkState({ rpc: [good, bad] })).toEqual({ state: "partly", answering: 1, all: 2 });
		expect(networkState({ rpc: [bad, behind] }).state).toBe("silent");
		expect(networkState({ rpc: [unused, bad] }).state).toBe("unused");
		expect(networkState({ rpc: [] }).state).toBe("none");
		expect(networkState({ rpc: [bad, unused], ended: "2026-08-15T00:00:00Z" }).state).toBe("ended");
	});
});

describe("support", () => {
	const provider = (kind: Provider["kind"], ready: boolean, support: Provider["support"]): Provider => ({
		kind, ready, support, ...(ready ? {} : { reason: "no key" }),
		capabilities: { sameChain: "yes", crossChain: "no", intentRouting: "no", gaslessExecution: "no", orderTracking: "yes" },
		fee: { feeBps: 0, makerFeeBps: 0, description: "" },
	});
	it("is of the network and of what is set up here", () => {
		const active = { "1": { support: "active" as const, crossChainEnabled: false } };
		const off = { "1": { support: "disabled" as const, crossChainEnabled: false, note: "paused" } };
		const words = supportOf([provider("dex", true, active), provider("bridge", false, active), provider("intent", true, off), provider("gasless", true, {})], 1);
		expect(words).toEqual([
			{ kind: "dex", word: "active", note: undefined },
			{ kind: "bridge", word: "disabled", note: "no key" },
			{ kind: "intent", word: "disabled", note: "paused" },
			{ kind: "gasless", word: "none", note: undefined },
		]);
	});
});
