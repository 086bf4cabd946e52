import { beforeEach, describe, expect, it, vi } from "vitest";
import de from "../../messages/de/errors.json";
import en from "../../messages/en/errors.json";
import { speak } from "../i18n/t";
import { Failure } from "../wire/failure";
import { errors, type ErrorName } from "../wire/protocol";
import { fieldWords, refusalWords } from "./failure-words";

const languages: Record<string, Record<string, string>> = { en, de };
const names = Object.keys(errors) as ErrorName[];

async function speaking(language: string): Promise<void> {
	const messages = Object.fromEntries(Object.entries(languages[language] ?? {}).map(([key, message]) => [key, { message }]));
	vi.stubGlobal("chrome", { i18n: { getUILanguage: () => language }, runtime: { getURL: (path: string) => path } });
	vi.stubGlobal("fetch", async () => ({ json: async () => messages }));
	vi.stubGlobal("document", { documentElement: {} });
	await speak(language);
}

const refused = (name: string, details?: Record<string, string>, message: string = errors[name as ErrorName]?.means ?? "it is raining", remedy = "take an umbrella") =>
	new Failure({ code: 1, message, data: { name, retryable: true, remedy, ...(details ? { details } : {}) } });

beforeEach(() => speaking("en"));

describe.each(Object.keys(languages))("in %s", (language) => {
	beforeEach(() => speaking(language));
	it.each(names)("%s has words", (name) => {
		const { title, do: todo } = refusalWords(refused(name));
		expect(todo).toBeTruthy();
		expect(title.length).toBeGreaterThan(5);
		expect(title).not.toContain("err_");
		expect(title).not.toContain("$");
	});
	it("is no word for a name that the protocol has not", () => {
		const others = new Set(["unknown", "try_again", "update", "update_client", "update_daemon", "not_as_accepted_field", "not_understood_field", "not_pinned_field", "bad_request_field", "provider_garbage_field", "funds_missing", "funds_promised", "gas_missing", "gas_over", "price_off", "wait_for", "until", "skew", "address", "key", "set_by", "length"]);
		const strangers = Object.keys(languages[language] ?? {}).filter((k) => k.startsWith("err_")).map((k) => k.slice(4)).filter((k) => !others.has(k) && !names.includes(k.replace(/_do$/, "") as ErrorName));
		expect(strangers).toEqual([]);
	});
});

it("has the same messages with the same places in both languages", () => {
	const places = (text: string) => [...text.matchAll(/\$[1-9]/g)].map((m) => m[0]).sort().join();
	expect(Object.keys(de).sort()).toEqual(Object.keys(en).sort());
	for (const [key, text] of Object.entries(en)) expect(places((de as Record<string, string>)[key] ?? ""), key).toBe(places(text));
});

it("says which field the provider changed, in plain words", () => {
	const { title, field, text } = refusalWords(refused("not_as_accepted", { field: "recipient" }, "the swap pays 0x12, not the recipient"));
	expect(title).toBe("The provider changed the recipient. Nothing was signed.");
	expect(text).toBe("The swap pays 0x12, not the recipient.");
	expect(field).toBeUndefined();
});

it("shows a field that nobody chose as it is", () => {
	const { title, field } = refusalWords(refused("not_as_accepted", { field: "hooksHash" }));
	expect(title).toBe("The provider changed something that you had accepted. Nothing was signed.");
	expect(field).toBe("hooksHash");
});

it.each(["amountIn", "tokenIn", "tokenOut", "recipient", "refundTo", "slippage", "floorOut", "deadline", "fee", "feeBps", "makerFeeBps", "spender", "to", "value", "movements", "allowance", "output.recipient"])(
	"knows the field %s", (field) => {
		expect(fieldWords(field)).toBeTruthy();
		speaking("de");
		expect(fieldWords(field)).toBeTruthy();
	},
);

it("knows no field by accident of its name", () => expect(fieldWords("constructor")).toBeUndefined());

describe("tells amounts with their units", () => {
	const coin = (wei: string) => `${wei} ETH`;
	it("that are missing", () => {
		const f = refused("insufficient_funds", { field: "amountIn", balance: "5", missing: "2", promised: "3" });
		expect(refusalWords(f, { tokenIn: (u) => `${u} USDC` }).text).toBe("2 USDC are missing: you have 5 USDC, and open orders need 3 USDC of it.");
		expect(refusalWords(f).text).toBe("");
	});
	it("of gas, missing or above the ceiling", () => {
		expect(refusalWords(refused("insufficient_gas", { missing: "1", needed: "3", balance: "2" }), { coin }).text).toBe("1 ETH are missing: it takes up to 3 ETH, you have 2 ETH.");
		expect(refusalWords(refused("insufficient_gas", { max: "9", ceiling: "5" }), { coin }).text).toBe("It could cost up to 9 ETH; you accepted at most 5 ETH.");
		expect(refusalWords(refused("gas_ceiling", { needed: "9", ceiling: "5" }), { coin }).text).toBe("It could cost up to 9 ETH; you accepted at most 5 ETH.");
	});
});

it("tells how long to wait, and until when a signed order lives", () => {
	expect(refusalWords(refused("backing_off", { seconds: "90" })).text).toContain("1:30");
	expect(refusalWords(refused("cannot_cancel", { until: "2026-11-20T09:20:00Z" })).text).toContain("2026");
});

it("tells a name of a newer daemon in the daemon's own words", () => {
	expect(refusalWords(refused("too_wet"))).toEqual({ title: "Swapkeep refused that", text: "It is raining.", do: "Take an umbrella." });
});
