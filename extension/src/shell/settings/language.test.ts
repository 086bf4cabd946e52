import { describe, expect, it } from "vitest";
import { languageOf } from "./language";

const set = (value: string, source: "default" | "setting" | "file") => [{ key: "ui.language", value, source }];

describe("the language", () => {
	it("is the browser's unless somebody set one", () => {
		expect(languageOf([])).toBe("");
		expect(languageOf(set("en", "default"))).toBe("");
	});
	it("is what was set, where there are messages for it", () => {
		expect(languageOf(set("de", "setting"))).toBe("de");
		expect(languageOf(set("de-AT", "file"))).toBe("de");
		expect(languageOf(set("fr", "setting"))).toBe("");
		expect(languageOf(set("constructor", "setting"))).toBe("");
	});
});
