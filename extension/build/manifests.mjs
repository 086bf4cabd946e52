import { readFile } from "node:fs/promises";
import { join } from "node:path";

/** The browsers to build packages for. */
export const browsers = ["chromium", "firefox"];

const folder = join(import.meta.dirname, "..", "manifest");
const part = async (name) => JSON.parse(await readFile(join(folder, `${name}.json`), "utf8"));

/** policy allows pages to load nothing from outside but the token list. */
function policy(tokensOrigin) {
	return [
		"default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "font-src 'self'",
		`connect-src 'self' ${tokensOrigin}`, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	].join("; ");
}

/** manifest returns a browser's manifest. The development one adds the identity of a test
 * installation, which release manifests never have. */
export async function manifest(browser, { version, tokensOrigin, development }) {
	const all = { ...(await part("base")), ...(await part(browser)) };
	const extra = development ? (await part("development"))[browser] : {};
	return {
		...merge(all, extra),
		version,
		host_permissions: [`${tokensOrigin.replace(/:\d+$/, "")}/*`],
		content_security_policy: { extension_pages: policy(tokensOrigin) },
	};
}

function merge(to, from) {
	const out = { ...to };
	for (const [key, value] of Object.entries(from)) {
		const both = typeof value === "object" && typeof out[key] === "object" && !Array.isArray(value);
		out[key] = both ? merge(out[key], value) : value;
	}
	return out;
}
