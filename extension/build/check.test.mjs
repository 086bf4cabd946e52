import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { faults } from "./check.mjs";
import { browsers, manifest } from "./manifests.mjs";

const page = '<!doctype html><html><head><link rel="stylesheet" href="./assets/first.css"></head><body><script type="module" src="./popup.js"></script></body></html>';

async function sound(browser, more = {}) {
	const made = await manifest(browser, { version: "0.1.0", tokensOrigin: "https://tokens.example", development: false });
	return { "manifest.json": JSON.stringify({ ...made, ...more }), "popup.html": page, "background.js": "chrome.runtime.onConnect.addListener(f)", "assets/first.css": "p{color:red}" };
}

describe("faults", () => {
	test.each(browsers)("finds none in the package for %s", async (browser) => {
		expect(faults(await sound(browser))).toEqual([]);
	});

	test.each([
		["a mark", "logos/usdc.svg", '<svg viewBox="0 0 24 24"><path fill="url(#a)" d="M1 1"/></svg>', 0],
		["a mark with a script", "logos/usdc.svg", "<svg><script>1</script></svg>", 1],
		["a mark with a handler", "logos/usdc.svg", '<svg onload="f()"></svg>', 1],
		["a mark from outside", "logos/usdc.svg", '<svg><path fill="url(https://x.example/a)"/></svg>', 1],
		["a mark elsewhere", "logos/../usdc.svg", "<svg></svg>", 1],
	])("judges %s", async (_, name, text, found) => {
		expect(faults({ ...(await sound("chromium")), [name]: text })).toHaveLength(found);
	});

	const policy = async (from, to) => {
		const { content_security_policy: { extension_pages } } = JSON.parse((await sound("chromium"))["manifest.json"]);
		expect(extension_pages).toContain(from);
		return { content_security_policy: { extension_pages: extension_pages.replace(from, to) } };
	};

	test.each([
		["accessible resources", { web_accessible_resources: [{ resources: ["popup.html"], matches: ["<all_urls>"] }] }],
		["outside messages", { externally_connectable: { matches: ["*://*.example.org/*"] } }],
		["content scripts", { content_scripts: [{ matches: ["<all_urls>"], js: ["x.js"] }] }],
		["another permission", { permissions: ["nativeMessaging", "storage", "tabs"] }],
		["a sandbox's policy", { content_security_policy: { extension_pages: "", sandbox: "script-src *" } }],
		["no policy", { content_security_policy: undefined }],
		["all hosts", { host_permissions: ["<all_urls>"] }],
		["a host without https", { host_permissions: ["http://127.0.0.1/*"] }],
	])("finds %s", async (_, more) => {
		expect(faults(await sound("chromium", more))).not.toEqual([]);
	});

	test.each([
		["script-src 'self'", "script-src 'self' 'unsafe-eval'"], ["script-src 'self'", "script-src 'self' https://cdn.example"],
		["frame-ancestors 'none'", "frame-ancestors *"], ["frame-ancestors 'none'", ""], ["style-src 'self'", "style-src 'self' 'unsafe-inline'"],
		["connect-src 'self'", "connect-src *"], ["default-src 'none'", "default-src 'self'"], ["base-uri 'none'", "base-uri 'none'; frame-src *"],
	])("finds %s to be %s", async (from, to) => {
		expect(faults(await sound("chromium", await policy(from, to)))).not.toEqual([]);
	});

	test.each([
		["background.js", "chrome.runtime.onMessageExternal.addListener(f)"], ["background.js", "r.onConnectExternal.addListener(f)"],
		["popup.js", 'eval("1")'], ["popup.js", 'new Function("return 1")'], ["popup.js", 'import("https://cdn.example/x.js")'], ["popup.js", 'setTimeout("go()", 1)'],
		["chunks/a.js", 'e.insertAdjacentHTML("beforeend", x)'], ["assets/b.css", "@import url(https://cdn.example/x.css)"], ["assets/b.css", "p{background:url(//cdn.example/x)}"],
		["popup.html", "<script>go()</script>"], ["popup.html", '<script src="https://cdn.example/x.js"></script>'], ["popup.html", '<img onerror="go()">'],
		["popup.html", '<iframe src="x.html"></iframe>'], ["other.html", page], ["popup.js.map", "{}"],
	])("finds in %s: %s", async (name, text) => {
		expect(faults({ ...(await sound("firefox")), [name]: text })).not.toEqual([]);
	});
});

test("what others wrote is drawn as text: no source of ours makes HTML of it", async () => {
	const folder = join(import.meta.dirname, "..", "src");
	const names = (await readdir(folder, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
	expect(names.length).toBeGreaterThan(100);
	const makes = await Promise.all(names.map(async (name) => /dangerouslySetInnerHTML|\b(inner|outer)HTML\b|insertAdjacentHTML|document\.write|\bDOMParser\b/.test(await readFile(join(folder, name), "utf8")) && name));
	expect(makes.filter(Boolean)).toEqual([]);
});
