import { describe, expect, it } from "vitest";
import type { Provider, ProvidersResult } from "../../wire/protocol";
import { resultOf } from "../../wire/recorded";
import { dex } from "./machine";

/** As recorded from the daemon: it swaps on Ethereum. */
const provider = resultOf<ProvidersResult>("swap", "providers").providers.find((p) => p.kind === "dex")!;
const ethereum = { chainId: 1, name: "Ethereum" };
const elsewhere = { chainId: 10, name: "Optimism" };

describe("the DEX", () => {
	it("swaps on one network, by pools and by an auction", () => expect(dex).toMatchObject({ kind: "dex", crossChain: false, routes: true }));
	it("serves what its table has as active", () => expect(dex.unsupported(provider, ethereum, ethereum)).toBeUndefined());
	it("serves no other network", () => expect(dex.unsupported(provider, elsewhere, elsewhere)).toEqual({ key: "unsupported_network", values: ["Optimism"] }));
	it.each(["disabled", "not_supported"] as const)("serves none that is %s", (support) => {
		const row: Provider = { ...provider, support: { "1": { support, crossChainEnabled: false } } };
		expect(dex.unsupported(row, ethereum, ethereum)?.key).toBe(support === "disabled" ? "unsupported_disabled" : "unsupported_network");
	});
	it("serves nothing until it is set up", () => expect(dex.unsupported({ ...provider, ready: false, reason: "no token" }, ethereum, ethereum)).toEqual({ key: "unsupported_not_ready", values: ["no token"] }));
});
