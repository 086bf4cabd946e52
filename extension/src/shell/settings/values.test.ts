import { describe, expect, it } from "vitest";
import type { Setting } from "../../wire/protocol";
import { asksPassword, boundsOf, isOn, kinds, secondsOf } from "./values";

const setting = (type: Setting["type"], value: string, more: Partial<Setting> = {}): Setting => ({
	key: "a.b", description: "", type, value, default: "", source: "default", requires: "session", takesEffect: "now", ...more,
});

describe("a percent", () => {
	const slippage = setting("percent", "0.5", { min: "0.01", max: "50" });
	it.each([["1.5", { value: "1.5" }], ["0,5", { value: "0.5" }], ["50", { value: "50" }], ["50.01", "settings_out_of_bounds"], ["0", "settings_out_of_bounds"], ["1.234", "settings_no_number"], ["", "settings_no_number"], ["1e1", "settings_no_number"]])(
		"of %j is read", (draft, want) => expect(kinds.percent.read(draft, slippage)).toEqual(want),
	);
});

describe("a duration", () => {
	const lock = setting("duration", "15m0s", { min: "1m0s", max: "24h0m0s" });
	it("is written in minutes", () => {
		expect(["15m0s", "24h0m0s", "1h30m15s", "0s"].map(secondsOf)).toEqual([900, 86400, 5415, 0]);
		expect(kinds.duration.draftOf(lock)).toBe("15");
		expect(boundsOf(lock)).toEqual(["1", "1440"]);
	});
	it.each([["15", { value: "900s" }], ["1440", { value: "86400s" }], ["1441", "settings_out_of_bounds"], ["0.5", "settings_out_of_bounds"], ["soon", "settings_no_number"]])(
		"of %j minutes is read", (draft, want) => expect(kinds.duration.read(draft, lock)).toEqual(want),
	);
});

describe("a value above what a session may set", () => {
	const slippage = setting("percent", "0.5", { min: "0.01", max: "50", passwordAbove: "5", terminalAbove: "15" });
	const lock = setting("duration", "15m0s", { min: "1m0s", max: "24h0m0s", passwordAbove: "1h0m0s" });
	const level = setting("choice", "info", { choices: ["debug", "info", "warn", "error"], passwordAbove: "info" });
	it.each([[slippage, "5", false], [slippage, "5.01", true], [lock, "3600s", false], [lock, "3601s", true], [level, "info", false], [level, "error", false], [level, "debug", true], [setting("text", "en"), "de", false]])(
		"takes the password: %#", (of, value, want) => expect(asksPassword(of, value)).toBe(want),
	);
	it("takes it whatever the value, where the setting's right is the password", () => expect(asksPassword(setting("switch", "true", { requires: "password" }), undefined)).toBe(true));
	it("is out of bounds here where it is a terminal's", () => {
		const short = setting("duration", "15m0s", { min: "1m0s", max: "24h0m0s", terminalAbove: "2h0m0s" });
		expect(boundsOf(short)).toEqual(["1", "120"]);
		expect(kinds.duration.read("120", short)).toEqual({ value: "7200s" });
		expect(kinds.duration.read("121", short)).toBe("settings_out_of_bounds");
		expect(boundsOf(slippage)).toEqual(["0.01", "15"]);
		expect(kinds.percent.read("15.01", slippage)).toBe("settings_out_of_bounds");
	});
});

describe("URLs", () => {
	it("are one a line, in order", () => {
		const list = setting("urls", "", { values: ["rpc.example"], masked: true });
		expect(kinds.urls.draftOf(list)).toBe("");
		expect(kinds.urls.read(" https://a.example/x\n\nhttps://b.example ", list)).toEqual({ values: ["https://a.example/x", "https://b.example"] });
		expect(kinds.urls.read("a.example", list)).toBe("settings_no_url");
		expect(kinds.urls.read("", list)).toBe("settings_no_url");
		expect(kinds.urls.read(Array(9).fill("https://a.example").join("\n"), list)).toBe("settings_too_many_urls");
	});
	it("are no other scheme's", () => {
		expect(kinds.url.read("javascript:alert(1)", setting("url", ""))).toBe("settings_no_url");
		expect(kinds.url.read("https://a.example", setting("url", ""))).toEqual({ value: "https://a.example" });
	});
});

it("shows what is switched off as off", () => {
	expect(isOn({ key: "providers.dex.disabled", value: "false" })).toBe(true);
	expect(isOn({ key: "prices.imported", value: "false" })).toBe(false);
});
