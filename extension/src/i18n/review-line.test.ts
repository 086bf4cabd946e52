import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import type { Line } from "../wire/protocol";
import { reviewLine } from "./review-line";
import { languages, loadLanguage } from "./t";

const root = join(import.meta.dirname, "..", "..");
const folder = join(root, "..", "swap", "lines", "testdata");
const kinds = readdirSync(folder).filter((name) => name.endsWith(".json")).map((name) => name.slice(0, -".json".length));

/** The texts of a language as the build merges them. */
function merged(language: string): Record<string, { message: string }> {
	const parts = readdirSync(join(root, "messages", language)).map((part) => JSON.parse(readFileSync(join(root, "messages", language, part), "utf8")) as Record<string, string>);
	return Object.fromEntries(Object.entries(Object.assign({}, ...parts) as Record<string, string>).map(([key, message]) => [key, { message }]));
}

/** Direction marks, which values get in the popup alone. */
const marks = /[\u2066-\u2069]/g;

describe.each(Object.keys(languages))("in %s", (language) => {
	it.each(kinds)("%s reads as in the terminal", async (kind) => {
		vi.stubGlobal("chrome", { runtime: { getURL: (path: string) => path }, i18n: { getUILanguage: () => language } });
		vi.stubGlobal("fetch", () => Promise.resolve({ json: () => merged(language) }));
		vi.stubGlobal("document", { documentElement: {} });
		await loadLanguage(language);
		const lines = JSON.parse(readFileSync(join(folder, `${kind}.json`), "utf8")) as Line[];
		const shown = lines.map((line) => `${line.severity}  ${reviewLine(line).replace(marks, "")}\n`).join("");
		expect(shown).toBe(readFileSync(join(folder, `${kind}.${language}.txt`), "utf8"));
		vi.unstubAllGlobals();
	});
});

it("has kinds to read", () => expect(kinds.length).toBeGreaterThan(10));
