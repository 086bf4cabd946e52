import { beforeEach, describe, expect, it, vi } from "vitest";
import de from "../../messages/de/errors.json";
import en from "../../messages/en/errors.json";
import { loadLanguage } from "../i18n/t";
import { Failure } from "../wire/failure";
import { errors, type ErrorName } from "../wire/protocol";
import named from "../../../testdata/fields.json";
import { fieldWords, refusalWords, fieldsWithText } from "./failure-words";

const languages: Record<string, Record<string, string>> = { en, de };
const names = Object.keys(errors) as ErrorName[];

async function speaking(language: string): Promise<void> {
	const messages = Object.fromEntries(Object.entries(languages[language] ?? {}).map(([key, message]) => [key, { message }]));
	vi.stubGlobal("chrome", { i18n: { getUILanguage: () => language }, runtime: { getURL: (path: string) => path } });
	vi.stubGlobal("fetch", async () => ({ json: async () => messages }));
	vi.stubGlobal("document", { documentElement: {} });
	await loadLanguage(language);
}

const refused = (name: string, details?: Record<string, string>, message: string = errors[name as ErrorName]?.means ?? "it is raining", remedy = "take an umbrella") =>
	new Failure({ code: 1, message, data: { name, retryable: true, remedy, ...(details ? { details } : {}) } });

beforeEach(() => speaking("en"));

it("sets the daemon's own words apart where texts are in another language", async () => {
	const failure = refused("provider_refused", {}, "the order is too small");
	expect(refusalWords(failure)).toMatchObject({ text: "The order is too small." });
	expect(refusalWords(failure).said).toBeUndefined();
	await speaking("de");
	expect(refusalWords(failure)).toMatchObject({ text: "", said: "The order is too small." });
});

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
		const others = new Set(["unknown", "try_again", "update", "update_client", "update_daemon", "not_as_accepted_field", "undecodable_field", "not_pinned_field", "bad_request_field", "provider_invalid_response_field", "funds_missing", "funds_promised", "gas_missing", "gas_over", "price_impact", "wait_for", "until", "skew", "address", "key", "set_by", "length", "got", "got_wanted", "ended"]);
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
	const { title, field } = refusalWords(refused("not_as_accepted", { field: "currencyGasTopup" }));
	expect(title).toBe("The provider changed something you accepted. Nothing was signed.");
	expect(field).toBe("currencyGasTopup");
});

describe("a field that the wallet or a provider names", () => {
	// Internal to replies, requests and lists; users have no word for them.
	const nameless = [
		"amounts", "chains", "check", "currencyGasTopup", "cursor", "depositMethods", "depositTxHash", "digest", "error", "expectedDurationSeconds", "gasLimit", "gasUseEstimate",
		"hash", "id", "inTxHashes", "orderStatus", "orders", "provider", "quote", "quoteId", "raw", "reply", "request", "requestId", "routeId", "routes", "status", "swap", "tier",
		"timeEstimate", "tokens", "txHash", "txHashes",
	];
	it("has words, unless nobody knows it", () => expect(named.filter((f) => !fieldWords(f))).toEqual(nameless));
	it("is all that has words", () => expect(fieldsWithText.filter((f) => !named.includes(f))).toEqual([]));
	it.each([
		["maker_amount of a gasless order", "buyAmount", "the minimum received"],
		["amount of a bridge's deposit", "amount", "the amount you pay"],
		["amount of an approval", "allowance", "the approval"],
		["currency of a refund", "refundCurrency", "the refund"],
	])("is called what it means: %s", (_, field, words) => expect(fieldWords(field)).toBe(words));
});

it("knows no field by accident of its name", () => expect(fieldWords("constructor")).toBeUndefined());

describe("tells amounts with their units", () => {
	const coin = (wei: string) => `${wei} ETH`;
	it("that are missing", () => {
		const f = refused("insufficient_funds", { field: "amountIn", balance: "5", missing: "2", promised: "3" });
		expect(refusalWords(f, { tokenIn: (u) => `${u} USDC` }).text).toBe("You need 2 USDC more: you have 5 USDC, and open orders reserve 3 USDC of it.");
		expect(refusalWords(f).text).toBe("");
	});
	it("of gas, missing or above the ceiling", () => {
		expect(refusalWords(refused("insufficient_gas", { missing: "1", needed: "3", balance: "2" }), { coin }).text).toBe("You need 1 ETH more: up to 3 ETH is needed, you have 2 ETH.");
		expect(refusalWords(refused("insufficient_gas", { max: "9", ceiling: "5" }), { coin }).text).toBe("It could cost up to 9 ETH; your limit is 5 ETH.");
		expect(refusalWords(refused("gas_ceiling", { needed: "9", ceiling: "5" }), { coin }).text).toBe("It could cost up to 9 ETH; your limit is 5 ETH.");
	});
});

it("tells how long to wait, and until when a signed order lives", () => {
	expect(refusalWords(refused("backing_off", { seconds: "90" })).text).toContain("1:30");
	expect(refusalWords(refused("cannot_cancel", { until: "2026-11-20T09:20:00Z" })).text).toContain("2026");
});

it("tells a name of a newer daemon in the daemon's own words", () => {
	expect(refusalWords(refused("too_wet"))).toEqual({ title: "Swapkeep refused this", text: "It is raining.", do: "Take an umbrella." });
});
