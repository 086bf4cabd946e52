import { describe, expect, it } from "vitest";
import type { Provider, ProvidersResult } from "../../wire/protocol";
import { resultOf } from "../../wire/recorded";
import { gasless } from "./machine";

/** Same form as the recorded support table of the dex provider. */
const told = resultOf<ProvidersResult>("swap", "providers").providers.find((p) => p.kind === "dex")!;
const provider: Provider = { ...told, kind: "gasless" };
const ethereum = { chainId: 1, name: "Ethereum" };
const elsewhere = { chainId: 10, name: "Optimism" };

describe("the gasless provider", () => {
	it("swaps on one network, and offers one route", () => expect(gasless).toMatchObject({ kind: "gasless", crossChain: false, routes: false }));
	it("serves what its table has as active", () => expect(gasless.unsupported(provider, ethereum, ethereum)).toBeUndefined());
	it("serves no other network", () => expect(gasless.unsupported(provider, elsewhere, elsewhere)).toEqual({ key: "unsupported_network", values: ["Optimism"] }));
	it("serves nothing until it is set up", () => expect(gasless.unsupported({ ...provider, ready: false, reason: "no key" }, ethereum, ethereum)).toEqual({ key: "unsupported_not_ready", values: ["no key"] }));
});
