import { describe, expect, test } from "vitest";
import type { ErrorObject, Offer } from "../wire/protocol";
import { compare, hundredths } from "./compare";
import { delayUntilAsk } from "./useComparison";

const offer = (provider: Offer["provider"], out: string, net?: string, more: Partial<Offer> = {}) =>
	({ id: `${provider}-${out}`, provider, amountOut: out, ...(net === undefined ? {} : { netAmountOut: net }), ...more }) as Offer;
const refusal: ErrorObject = { code: 1424, message: "no offer", data: { name: "no_route", retryable: true, remedy: "" } };

describe("compare", () => {
	test("keeps the daemon's order and measures each against the best, by what is left after gas", () => {
		// The dex offer pays more, but less after gas.
		const answer = { offers: [offer("gasless", "1000", "1000"), offer("dex", "1010", "990"), offer("intent", "980", "970")], failures: {} };
		const found = compare(answer, answer.offers[1], "dex");
		expect(found.lines.map((l) => [l.kind, l.behind, l.own])).toEqual([["gasless", 0, false], ["dex", 100, true], ["intent", 300, false]]);
		expect(found).toMatchObject({ net: true, better: 101 });
	});

	test("has one line a provider: its first that can be carried out", () => {
		const answer = { offers: [offer("intent", "30", "30", { unusable: "sold out" }), offer("intent", "20", "20"), offer("intent", "10", "10")], failures: {} };
		expect(compare(answer, undefined, "dex").lines.map((l) => l.offer.amountOut)).toEqual(["20"]);
	});

	test("shows the panel's own offer as it stands there, though another was asked for beside it", () => {
		const own = offer("dex", "105", "105");
		const found = compare({ offers: [offer("gasless", "110", "110"), offer("dex", "90", "90")], failures: {} }, own, "dex");
		expect(found.lines[1]!.offer).toBe(own);
		expect(found.better).toBe(476);
	});

	test("puts an own offer that the answer lacks before the first that leaves less", () => {
		const kinds = (out: string) => compare({ offers: [offer("gasless", "110", "110"), offer("intent", "100", "100"), offer("bridge", "120", "120", { unusable: "too small" })], failures: {} }, offer("dex", out, out), "dex").lines.map((l) => l.kind);
		expect(kinds("105")).toEqual(["gasless", "dex", "intent", "bridge"]);
		expect(kinds("90")).toEqual(["gasless", "intent", "dex", "bridge"]);
	});

	test("never calls one the best that cannot be carried out", () => {
		const found = compare({ offers: [offer("gasless", "100", "100"), offer("bridge", "120", "120", { unusable: "too small" })], failures: {} }, undefined, "dex");
		expect(found.lines.map((l) => l.behind)).toEqual([0, undefined]);
	});

	test("compares before gas where one has no price, and says so", () => {
		const found = compare({ offers: [offer("gasless", "100", "99"), offer("intent", "98")], failures: {} }, offer("dex", "100", "50"), "dex");
		expect(found.net).toBe(false);
		expect(found.lines.map((l) => l.behind)).toEqual([0, 0, 200]);
	});

	test("tells of the other providers' failures, not of the panel's own", () => {
		const found = compare({ offers: [], failures: { dex: refusal, bridge: refusal } }, undefined, "dex");
		expect(found.failures).toEqual([{ kind: "bridge", error: refusal }]);
		expect(found).toMatchObject({ lines: [], better: undefined, net: false });
	});
});

test.each([[100n, 100n, 0], [101n, 100n, 100], [996n, 1000n, -40], [1n, 0n, 0], [10n ** 30n + 10n ** 26n, 10n ** 30n, 1]])("%s is %i above %s", (a, b, h) => {
	expect(hundredths(a, b)).toBe(h);
});

test.each<[string, boolean, number | undefined, number]>([
	["at once when the own offer has come", true, undefined, 0],
	["after a while when it has not", false, undefined, 5000],
	["not twice within the pause", true, 90_000, 20_000],
	["not at once because the own offer is gone", false, 90_000, 20_000],
	["at once when the pause is over", true, 60_000, 0],
])("all providers are asked %s", (_, hasOwn, last, ms) => {
	expect(delayUntilAsk(hasOwn, last, 100_000)).toBe(ms);
});
