import { describe, expect, it } from "vitest";
import en from "../../../messages/en/settings.json";
import type { Setting } from "../../wire/protocol";
import { groupsOf, messageOf, sectionOf, subjectOf, whereOf } from "./sections";

// Every key of the daemon's table (PROTOCOL.md §6), with one network.
const keys = [
	"swap.slippage", "keys.auto_lock", "ui.language", "ui.currency", "log.level", "limits.open_orders", "networks.1.rpc", "networks.1.depth",
	"providers.dex.base_url", "providers.dex.token_file", "providers.dex.disabled", "providers.bridge.key_file", "providers.intent.frontend_base_url", "providers.gasless.source",
	"prices.disabled", "prices.listen", "prices.history_days", "prices.imported", "prices.ask_imported", "prices.sources.defillama.base_url",
	"prices.sources.coingecko.disabled", "prices.sources.coingecko.plan", "prices.sources.onchain.disabled", "sandbox", "keys.backend", "tokens.lists",
	"extensions.chromium", "extensions.firefox", "extensions.allow_unknown", "chains.allow_loopback", "chains.revived", "fees.fee_bps", "fees.receiver",
];
const setting = (key: string): Setting => ({ key, description: "", type: "text", value: "", default: "", source: "default", requires: "session", takesEffect: "now" });

describe("sections", () => {
	it("have every setting once", () => {
		expect(keys.map(sectionOf).filter((s) => s === "about")).toEqual([]);
		expect(["swap.slippage", "networks.1.rpc", "providers.dex.base_url", "providers.gasless.source", "keys.backend", "a.new.one"].map(sectionOf)).toEqual([
			"swapping", "networks", "providers", "advanced", "advanced", "advanced",
		]);
	});
	it("name every setting that there is", () => {
		for (const key of keys.filter((k) => !k.startsWith("ui."))) expect(en, key).toHaveProperty(messageOf(key));
	});
	it("are reached by a route", () => {
		expect(whereOf("networks.8453")).toEqual({ id: "networks", subject: "8453" });
		expect(whereOf("about")).toEqual({ id: "about" });
		expect(whereOf(undefined)).toBeUndefined();
		expect(whereOf("nonsense")).toBeUndefined();
	});
	it("group by what a setting is of", () => {
		expect(subjectOf("prices.sources.onchain.disabled")).toEqual({ of: "source", name: "onchain" });
		const all = ["networks.1.rpc", "networks.1.depth", "networks.10.rpc", "prices.disabled", "fees.receiver"].map(setting);
		expect(groupsOf(all, { id: "networks" }).map((g) => [g.subject?.name, g.settings.length])).toEqual([["1", 2], ["10", 1]]);
		expect(groupsOf(all, { id: "networks", subject: "10" }).flatMap((g) => g.settings.map((s) => s.key))).toEqual(["networks.10.rpc"]);
		expect(groupsOf(all, { id: "advanced" }).map((g) => g.subject)).toEqual([undefined]);
	});
});
