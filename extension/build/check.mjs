// Checks the packages for the stores: node build/check.mjs DIR. What web pages and other
// extensions can do with this one depends on its manifest, pages and scripts, so they are
// checked as they are in the zips.
import { readdir, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { unzipSync } from "fflate";

/** The keys that the manifest may have. web_accessible_resources, externally_connectable,
 * content_scripts and sandbox are left out, as is any other way for outsiders to our pages. */
const keys = [
	"manifest_version", "name", "description", "default_locale", "icons", "action", "permissions", "minimum_chrome_version",
	"background", "browser_specific_settings", "incognito", "version", "host_permissions", "content_security_policy",
];
const permissions = ["nativeMessaging", "storage"];

/** The content security policy of pages, without connect-src. */
const policy = {
	"default-src": "'none'", "script-src": "'self'", "style-src": "'self'", "img-src": "'self' data:", "font-src": "'self'",
	"base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
};

/** What no script may contain. */
const forbiddenCode = [
	["hears other extensions", /\bon(Message|Connect)External\b/], ["hears user scripts", /\bonUserScript\w+/],
	["runs text", /\beval\s*\(|\bnew\s+Function\b|\bset(Timeout|Interval)\(\s*["'`]/],
	["loads code", /\bimportScripts\b|\bimport\s*\(\s*["'`](https?:|\/\/|data:|blob:)|\bfrom\s*["'`](https?:|\/\/)/],
	["puts scripts into pages", /\.scripting\b|\btabs\.executeScript\b/],
	["writes HTML", /\bdocument\.write|\binsertAdjacentHTML\b|\bcreateContextualFragment\b|\bDOMParser\b|\bsrcdoc\b/],
	["names a source map", /\bsourceMappingURL=/],
];

/** The files that a package may contain. */
const kinds = /^(manifest\.json|popup\.html|(background|popup)\.js|chunks\/[\w-]+\.js|assets\/[\w-]+\.css|icons\/\d+\.png|logos\/[a-z0-9-]+\.svg|_locales\/\w+\/messages\.json)$/;

/** faults returns what is wrong with a package, given as file names with their text. */
export function faults(files) {
	const names = Object.keys(files);
	return [
		...names.filter((name) => !kinds.test(name)).map((name) => `${name} is not expected in a package`),
		...ofManifest(JSON.parse(files["manifest.json"])),
		...names.filter((name) => name.endsWith(".html")).flatMap((name) => ofPage(files[name]).map((fault) => `${name} ${fault}`)),
		...names.filter((name) => name.endsWith(".js")).flatMap((name) => forbiddenCode.filter(([, said]) => said.test(files[name])).map(([fault]) => `${name} ${fault}`)),
		...names.filter((name) => name.endsWith(".svg") && /<(script|foreignObject|image|use|style|a)\b|\bhref\b|\bon\w+=|url\((?!#)/i.test(files[name])).map((name) => `${name} does more than draw`),
		...names.filter((name) => name.endsWith(".css") && /@import|url\(\s*["']?(https?:)?\/\//.test(files[name])).map((name) => `${name} loads from outside`),
	];
}

function ofManifest(manifest) {
	const policies = manifest.content_security_policy ?? {};
	return [
		...Object.keys(manifest).filter((key) => !keys.includes(key)).map((key) => `the manifest has ${key}`),
		...(manifest.permissions ?? []).filter((name) => !permissions.includes(name)).map((name) => `the manifest asks for ${name}`),
		...Object.keys(policies).filter((of) => of !== "extension_pages").map((of) => `there is a policy of ${of}`),
		...ofPolicy(policies.extension_pages ?? "", (manifest.host_permissions ?? []).map((pattern) => pattern.replace(/\/\*$/, ""))),
	];
}

/** ofPolicy checks that each directive is as expected, and that connections go to one host. */
function ofPolicy(text, hosts) {
	const said = new Map(text.split(";").map((d) => d.trim()).filter(Boolean).map((d) => [d.split(/\s+/)[0], d.split(/\s+/).slice(1).join(" ")]));
	const wanted = { ...policy, "connect-src": ["'self'", ...hosts].join(" ") };
	const differs = Object.entries(wanted).filter(([directive, sources]) => said.get(directive) !== sources);
	return [
		...differs.map(([directive, sources]) => `the policy's ${directive} is ${said.get(directive) ?? "absent"}, not ${sources}`),
		...[...said.keys()].filter((directive) => !(directive in wanted)).map((directive) => `the policy has ${directive}`),
		...(hosts.length === 1 && /^https:\/\/[a-z0-9.-]+$/.test(hosts[0]) ? [] : [`the hosts are ${hosts.join(" ")}, not one of https`]),
	];
}

/** ofPage checks that scripts come from files of the package and that nothing is inline. */
function ofPage(html) {
	const scripts = [...html.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/gi)];
	return [
		...scripts.filter(([, has, text]) => !/\bsrc="\.?\/?[\w./-]+"/.test(has) || text.trim() !== "").map(() => "has a script of its own, or from outside"),
		...(/\son\w+\s*=/i.test(html) ? ["has a handler in an attribute"] : []),
		...(/\b(src|href)="(https?:)?\/\//i.test(html) ? ["loads from outside"] : []),
		...(/<(iframe|object|embed|base)\b/i.test(html) ? ["has a frame or a base"] : []),
	];
}

/** packages returns the name of each zip in a folder, with the text of its files. */
async function packages(folder) {
	const zips = (await readdir(folder)).filter((name) => name.endsWith(".zip")).sort();
	return Promise.all(zips.map(async (zip) => {
		const files = Object.entries(unzipSync(new Uint8Array(await readFile(join(folder, zip)))));
		return [zip, Object.fromEntries(files.map(([name, bytes]) => [name, new TextDecoder("latin1").decode(bytes)]))];
	}));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
	const all = await packages(resolve(process.argv[2]));
	const found = all.flatMap(([zip, files]) => faults(files).map((fault) => `${zip}: ${fault}`));
	if (all.length !== 2) found.push(`want a package for each of two browsers, there are ${all.length}`);
	console.log(found.length === 0 ? `${all.map(([zip]) => zip).join(" and ")} open no way to pages and other extensions` : found.join("\n"));
	process.exitCode = found.length === 0 ? 0 : 1;
}
