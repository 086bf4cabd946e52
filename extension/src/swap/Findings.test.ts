/// <reference types="vite/client" />
import { beforeEach, describe, expect, it, vi } from "vitest";
import values from "../../messages/values.json";
import deErrors from "../../messages/de/errors.json";
import deReview from "../../messages/de/review.json";
import deStates from "../../messages/de/states.json";
import enErrors from "../../messages/en/errors.json";
import enReview from "../../messages/en/review.json";
import enStates from "../../messages/en/states.json";
import { loadLanguage } from "../i18n/t";
import type { FindingCode } from "../wire/protocol";
import source from "../wire/protocol.ts?raw";
import { words } from "./Findings";

const languages: Record<string, Record<string, string>> = { en: { ...enErrors, ...enReview, ...enStates }, de: { ...deErrors, ...deReview, ...deStates } };
const codes = [...(/export type FindingCode = (.*);/.exec(source)?.[1] ?? "").matchAll(/"([^"]+)"/g)].map((m) => m[1]!);
const samples: Record<string, string> = { coin: "1500000", worth: "1500000", tokenOut: "2500000", basisPoints: "45", text: "as it is", trusted: "relay_router", error: "would_revert" };
const eth = { symbol: "ETH", decimals: 6 };
const usdc = { symbol: "USDC", decimals: 6 };

const said = (code: string, data: Record<string, string>) => words({ code: code as FindingCode, severity: "warn", text: "so it is", data }, eth, usdc).replace(/[\u2066-\u2069]/g, "").replaceAll("\u00a0", " ");

/** sample returns data with a value for each placeholder of a finding's message. */
function sample(code: string): Record<string, string> {
	const needed = (values as Record<string, string[][]>)[`finding_${code}`] ?? [];
	return Object.fromEntries(needed.map(([name = "", form = ""]) => [name, samples[form]!]));
}

async function speak(language: string): Promise<void> {
	const messages = Object.fromEntries(Object.entries(languages[language]!).map(([key, message]) => [key, { message }]));
	vi.stubGlobal("chrome", { i18n: { getUILanguage: () => language }, runtime: { getURL: (path: string) => path } });
	vi.stubGlobal("fetch", async () => ({ json: async () => messages }));
	vi.stubGlobal("document", { documentElement: {} });
	await loadLanguage(language);
}

describe.each(Object.keys(languages))("in %s", (language) => {
	beforeEach(() => speak(language));
	it("reads the protocol", () => expect(codes.length).toBeGreaterThan(15));
	it.each(codes)("%s has words, with its values", (code) => {
		const text = said(code, sample(code));
		expect(text).not.toMatch(/so it is|\$|undefined|\d{7,}/);
		expect(text).not.toBe("");
	});
	it.each(codes.filter((code) => Object.keys(sample(code)).length > 0))("%s without its values is in the daemon's words", (code) => expect(said(code, {})).toBe("so it is"));
	it("a finding of a newer daemon is in its words", () => expect(said("too_wet", {})).toBe("so it is"));
});

describe("a value", () => {
	beforeEach(() => speak("de"));
	it.each<[string, Record<string, string>, string]>([
		["gas_ceiling", { max: "1500000", ceiling: "1000000" }, "Die Netzwerkgebühr könnte 1,5 ETH erreichen, mehr als die Grenze von 1 ETH in diesem Netzwerk. Warte auf eine niedrigere Gebühr."],
		["price_impact", { offered: "1500000", own: "2000000" }, "Das Angebot ist 1,5 USDC. Nach dem eigenen Preis von Swapkeep müssten es 2 USDC sein."],
		["fee_raised", { accepted: "20", proposed: "45" }, "Die Gebühr wäre höher: 0,45 % statt 0,2 %."],
		["fee_raised", { accepted: "20", proposed: "much" }, "so it is"],
		["isolated_account", { isolated: "0x1", extra: "1500000", extraUSD: "0.31" }, "Über ein Wegwerfkonto ausgeführt: 0,31 $ mehr. Swapkeep kann die Daten des Aufrufs nicht prüfen; deshalb macht ihn ein Konto, das nichts besitzt als diesen Betrag und seine Netzwerkgebühr. Schlimmstenfalls nimmt er diese beiden; was übrig bleibt, kommt von selbst zurück."],
		["isolated_account", { isolated: "0x1", extra: "1500000" }, "Über ein Wegwerfkonto ausgeführt: 1,5 ETH mehr. Swapkeep kann die Daten des Aufrufs nicht prüfen; deshalb macht ihn ein Konto, das nichts besitzt als diesen Betrag und seine Netzwerkgebühr. Schlimmstenfalls nimmt er diese beiden; was übrig bleibt, kommt von selbst zurück."],
		["fallback_used", { reason: "would_revert" }, "Das gewählte Angebot ist jetzt nicht möglich (Simulation gescheitert: Der Tausch würde nicht gelingen). Dies ist das nächste des Anbieters; prüfe es neu."],
	])("of %s is in its form", (code, data, want) => expect(said(code, data)).toBe(want));
});
