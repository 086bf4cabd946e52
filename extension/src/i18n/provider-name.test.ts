import { beforeAll, expect, it, vi } from "vitest";
import en from "../../messages/en/swap.json";
import { brandOf, providerName } from "./provider-name";
import { loadLanguage } from "./t";

beforeAll(async () => {
	vi.stubGlobal("document", { documentElement: {} });
	vi.stubGlobal("chrome", { i18n: { getUILanguage: () => "en" }, runtime: { getURL: (path: string) => path } });
	vi.stubGlobal("fetch", async () => ({ json: async () => Object.fromEntries(Object.entries(en).map(([key, message]) => [key, { message }])) }));
	await loadLanguage("en");
});

it("names a kind with its brand", () => expect(providerName("bridge")).toBe("Bridge (Relay)"));
it("names a kind without a brand, and one of a newer daemon", () => expect([providerName("wallet"), providerName("teleport")]).toEqual(["Wallet", "teleport"]));
it("knows no brand by accident of its name", () => expect(brandOf("constructor")).toBeUndefined());
