import { describe, expect, it } from "vitest";
import { browsers } from "../../wire/protocol";
import { browserOf, systemOf } from "./detect-browser";
import { type BrowserName, installCommand, sameFamily } from "./install";

describe("the command that installs", () => {
	it.each<[BrowserName, string, boolean, string]>([
		["chromium", "abcdefghijklmnopabcdefghijklmnop", false, "swapkeep install --browser chromium"],
		["brave", "abcdefghijklmnopabcdefghijklmnop", true, "swapkeep install --browser brave --extension-id abcdefghijklmnopabcdefghijklmnop"],
		["firefox", "me@swapkeep.invalid", true, "swapkeep install --browser firefox --extension-id me@swapkeep.invalid"],
		["firefox", "{0123abcd-0123-4567-89ab-0123456789ab}", true, 'swapkeep install --browser firefox --extension-id "{0123abcd-0123-4567-89ab-0123456789ab}"'],
	])("is for %s, %s", (browser, id, unlisted, command) => {
		expect(installCommand({ browser, id, unlisted })).toBe(command);
	});
});

describe("browsers that call themselves another", () => {
	it("are offered with all of their family", () => {
		const names = (browser: BrowserName) => sameFamily(browser).map(([name]) => name);
		expect(names("chrome")).toContain("opera");
		expect(names("firefox")).toContain("librewolf");
		expect(names("firefox")).not.toContain("chrome");
		expect([...names("chrome"), ...names("firefox")].sort()).toEqual(browsers.map((b) => b.name).sort());
	});
});

describe("where this is", () => {
	const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
	const cases: [BrowserName, string[], string, boolean][] = [
		["chromium", ["Chromium", "Not?A_Brand"], chrome, false],
		["chrome", ["Chromium", "Google Chrome"], chrome, false],
		["brave", ["Chromium", "Brave"], chrome, false],
		["brave", ["Chromium"], chrome, true],
		["edge", ["Microsoft Edge", "Chromium"], `${chrome} Edg/156.0`, false],
		["opera", [], `${chrome} OPR/130.0`, false],
		["vivaldi", ["Chromium", "Vivaldi"], chrome, false],
		["firefox", [], "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0", false],
	];
	it.each(cases)("tells %s", (name, brands, userAgent, brave) => {
		expect(browserOf({ brands, userAgent, brave })).toBe(name);
	});
	it("knows the systems that there are programs for", () => {
		expect(["linux", "mac", "win", "android", "cros"].map(systemOf)).toEqual(["linux", "mac", "windows", "other", "other"]);
	});
});
