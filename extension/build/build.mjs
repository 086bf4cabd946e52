// Builds the extension for both browsers: node build/build.mjs [--development] [--out DIR]
// [--zip]. DIR (default dist) gets a folder per browser; with --zip also the packages for
// the stores. The same source gives the same bytes.
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { build } from "vite";
import { browsers, manifest } from "./manifests.mjs";
import { languages, messages } from "./messages.mjs";
import { pack } from "./pack.mjs";
import { variables } from "./variables.mjs";

const root = resolve(import.meta.dirname, "..");
const { values: flags } = parseArgs({
	options: { development: { type: "boolean", default: false }, zip: { type: "boolean", default: false }, out: { type: "string", default: join(root, "dist") } },
});

const json = (value) => JSON.stringify(value, null, 2) + "\n";

async function main() {
	const { tokensURL, tokensOrigin } = variables();
	const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
	const out = resolve(flags.out);
	await rm(out, { recursive: true, force: true });
	const shared = join(out, "shared");
	await build({
		configFile: join(root, "vite.config.ts"), logLevel: "warn",
		define: { __TOKENS_URL__: JSON.stringify(tokensURL) },
		build: { outDir: shared, emptyOutDir: true },
	});
	await locales(shared);
	for (const pictures of ["icons", "logos"]) await cp(join(root, pictures), join(shared, pictures), { recursive: true });
	for (const browser of browsers) {
		const folder = join(out, browser);
		await cp(shared, folder, { recursive: true });
		await writeFile(join(folder, "manifest.json"), json(await manifest(browser, { version, tokensOrigin, development: flags.development })));
		if (flags.zip) await pack(folder, join(out, `swapkeep-${browser}-${version}.zip`));
	}
	await rm(shared, { recursive: true });
}

async function locales(folder) {
	for (const language of await languages()) {
		const to = join(folder, "_locales", language);
		await mkdir(to, { recursive: true });
		await writeFile(join(to, "messages.json"), json(await messages(language)));
	}
}

await main();
