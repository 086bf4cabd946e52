import { describe, expect, it } from "vitest";
import { browserOf, systemOf } from "./here";
import { type BrowserKind, places, steps } from "./install";

const id = "abcdefghijklmnopabcdefghijklmnop";
const command = (browser: BrowserKind, system: "linux" | "mac" | "windows") => {
	const last = steps({ browser, system, id, unlisted: false }).at(-1)!;
	return "command" in last ? last.command : "";
};

describe("the steps to a host", () => {
	it("makes the folder and writes the file into it", () => {
		expect(command("chromium", "linux")).toBe(
			"mkdir -p ~/.config/chromium/NativeMessagingHosts && swapkeep manifest chromium --dir ~/.config/chromium/NativeMessagingHosts",
		);
		expect(command("firefox", "linux")).toBe(
			"mkdir -p ~/.mozilla/native-messaging-hosts && swapkeep manifest firefox --dir ~/.mozilla/native-messaging-hosts",
		);
	});
	it("quotes a folder with a space in its name", () => {
		const folder = '"$HOME/Library/Application Support/Microsoft Edge/NativeMessagingHosts"';
		expect(command("edge", "mac")).toBe(`mkdir -p ${folder} && swapkeep manifest chromium --dir ${folder}`);
	});
	it("uses the registry on Windows", () => {
		const all = steps({ browser: "brave", system: "windows", id, unlisted: false });
		expect(all.at(-1)?.step).toBe("registry");
		expect(command("brave", "windows").split("\n").at(-1)).toBe(
			'reg add "HKCU\\Software\\Google\\Chrome\\NativeMessagingHosts\\app.swapkeep.host" /ve /t REG_SZ /d "%LOCALAPPDATA%\\Swapkeep\\chromium\\app.swapkeep.host.json" /f',
		);
	});
	it("has the host let in an id that it does not know by itself, before the file is written", () => {
		const all = steps({ browser: "firefox", system: "linux", id: "me@swapkeep.invalid", unlisted: true });
		expect(all.map((s) => s.step)).toEqual(["programs", "allow", "manifest"]);
		expect(all[1]).toMatchObject({ file: "~/.config/swapkeep/config.toml", lines: '[extensions]\nfirefox = [\n  "me@swapkeep.invalid",\n]' });
		expect(steps({ browser: "firefox", system: "linux", id, unlisted: false }).map((s) => s.step)).toEqual(["programs", "manifest"]);
	});
	it("knows a folder of every browser on every system", () => {
		for (const kind of Object.keys(places) as BrowserKind[]) {
			expect(command(kind, "linux")).toMatch(/^mkdir -p ~\/\.(config|mozilla)\//);
			expect(command(kind, "mac")).toContain("$HOME/Library/Application Support/");
			expect(command(kind, "windows")).toContain("NativeMessagingHosts");
		}
	});
});

describe("where this is", () => {
	const chrome = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36";
	const cases: [BrowserKind, string[], string, boolean][] = [
		["chromium", ["Chromium", "Not?A_Brand"], chrome, false],
		["chrome", ["Chromium", "Google Chrome"], chrome, false],
		["brave", ["Chromium", "Brave"], chrome, false],
		["brave", ["Chromium"], chrome, true],
		["edge", ["Microsoft Edge", "Chromium"], `${chrome} Edg/156.0`, false],
		["opera", [], `${chrome} OPR/130.0`, false],
		["vivaldi", ["Chromium", "Vivaldi"], chrome, false],
		["firefox", [], "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0", false],
	];
	it.each(cases)("tells %s", (kind, brands, userAgent, brave) => {
		expect(browserOf({ brands, userAgent, brave })).toBe(kind);
	});
	it("knows the systems that there are programs for", () => {
		expect(["linux", "mac", "win", "android", "cros"].map(systemOf)).toEqual(["linux", "mac", "windows", "other", "other"]);
	});
});
