import { describe, expect, it } from "vitest";
import type { Provider, ProvidersResult } from "../../wire/protocol";
import { resultOf } from "../../wire/recorded";
import { bridge } from "./machine";

/** Same form as the recorded support table of the intent provider. */
const told = resultOf<ProvidersResult>("swap", "providers").providers.find((p) => p.kind === "intent")!;
const provider: Provider = { ...told, kind: "bridge", support: { ...told.support, "10": { support: "active", crossChainEnabled: true } } };
const ethereum = { chainId: 1, name: "Ethereum" };
const optimism = { chainId: 10, name: "Optimism" };
const disabled = { chainId: 39, name: "U2U Solaris" };
const beyond = { chainId: 137, name: "Polygon" };

describe("the bridge", () => {
	it("crosses networks, and offers one route", () => expect(bridge).toMatchObject({ kind: "bridge", crossChain: true, routes: false }));
	it.each([[ethereum, optimism], [optimism, ethereum], [ethereum, ethereum], [ethereum, beyond]])("goes from %j to %j", (from, to) => expect(bridge.unsupported(provider, from, to)).toBeUndefined());
	it("goes to no disabled network, and begins on none beyond its table", () => {
		expect(bridge.unsupported(provider, ethereum, disabled)).toEqual({ key: "unsupported_destination", values: ["U2U Solaris"] });
		expect(bridge.unsupported(provider, beyond, ethereum)).toEqual({ key: "unsupported_network", values: ["Polygon"] });
	});
	it("serves nothing until it is set up", () => expect(bridge.unsupported({ ...provider, ready: false, reason: "no key" }, ethereum, optimism)).toEqual({ key: "unsupported_not_ready", values: ["no key"] }));
});
