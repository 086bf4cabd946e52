import { describe, expect, it } from "vitest";
import type { Provider, ProvidersResult } from "../../wire/protocol";
import { resultOf } from "../../wire/recorded";
import { intent } from "./machine";

/** As recorded from the daemon: Ethereum is active and crosses, 39 is disabled. */
const provider: Provider = resultOf<ProvidersResult>("swap", "providers").providers.find((p) => p.kind === "intent")!;
const ethereum = { chainId: 1, name: "Ethereum" };
const disabled = { chainId: 39, name: "U2U Solaris" };
const beyond = { chainId: 137, name: "Polygon" };

describe("the intent provider", () => {
	it("crosses networks, and offers routes to pick from", () => expect(intent).toMatchObject({ kind: "intent", crossChain: true, routes: true }));
	it("swaps on one network, and to one that its table has not", () => {
		expect(intent.unsupported(provider, ethereum, ethereum)).toBeUndefined();
		expect(intent.unsupported(provider, ethereum, beyond)).toBeUndefined();
	});
	it("neither leaves nor reaches a disabled network", () => {
		expect(intent.unsupported(provider, disabled, ethereum)).toEqual({ key: "unsupported_disabled", values: ["U2U Solaris"] });
		expect(intent.unsupported(provider, ethereum, disabled)).toEqual({ key: "unsupported_destination", values: ["U2U Solaris"] });
	});
	it("leaves no network that it does not serve", () => expect(intent.unsupported(provider, beyond, ethereum)).toEqual({ key: "unsupported_network", values: ["Polygon"] }));
	it("stays on a network that it does not cross from", () => {
		const row: Provider = { ...provider, support: { "1": { support: "active", crossChainEnabled: false } } };
		expect(intent.unsupported(row, ethereum, ethereum)).toBeUndefined();
		expect(intent.unsupported(row, ethereum, beyond)).toEqual({ key: "unsupported_leaving", values: ["Ethereum"] });
	});
});
