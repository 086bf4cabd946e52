// Writes the marks of built-in tokens: extension/logos/NAME.svg, and marks.json, which says
// whose they are. They are web3icons' (MIT); a mark is taken for the address that its
// package names, and for tokens of the same symbol and name on other networks. Run by
// go generate ./tokens, in that folder, after gen.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const packages = { core: "@web3icons/core@4.0.56", common: "@web3icons/common@0.11.51" };
const networks = { ethereum: 1, "optimistic-ethereum": 10, "binance-smart-chain": 56, base: 8453, "arbitrum-one": 42161, avalanche: 43114 };
const natives = { ETH: "ETH", BNB: "BNB", AVAX: "AVAX" };
const native = "0x0000000000000000000000000000000000000000";
const largest = 12_000; // bytes of a mark
const folder = "../extension/logos";

/** harmless is whether a drawing only draws: no script, no link, no style, nothing from outside. */
const harmless = (svg) => /^<svg [^>]*viewBox="0 0 24 24"/.test(svg) && !/<(?!\/?(svg|path|g|defs|circle|ellipse|rect|polygon|linearGradient|radialGradient|stop|clipPath|mask)\b)|\bon\w+=|href|url\((?!#)|style=|&(?!#)/.test(svg);

const tidy = (svg) => svg.replace(/ class="web3icons"| width="24"(?= height="24")| height="24"(?= fill| viewBox)/g, "").replace(/>\s+</g, "><").trim();

function fetched(dir) {
	const at = {}, sources = [];
	for (const [key, name] of Object.entries(packages)) {
		at[key] = join(dir, key);
		mkdirSync(at[key]);
		const file = execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", at[key], name], { encoding: "utf8" }).trim();
		sources.push({ name, license: "MIT", sha256: createHash("sha256").update(readFileSync(join(at[key], file))).digest("hex") });
		execFileSync("tar", ["-xzf", join(at[key], file), "-C", at[key]]);
	}
	return { at, sources };
}

const keyOf = (t) => `${t.chainId}:${t.address}`;
const looks = (t) => `${t.symbol.toLowerCase()} ${t.name.toLowerCase()}`;

async function main(dir) {
	const { at, sources } = fetched(dir);
	const { tokens } = await import(pathToFileURL(join(at.common, "package/dist/index.js")));
	const named = new Map();
	for (const t of tokens) for (const [network, address] of Object.entries(t.addresses ?? {})) if (networks[network]) named.set(`${networks[network]}:${address.toLowerCase()}`, t.filePath.split(":")[1]);
	const ours = ["seed.json", "listed.json"].flatMap((file) => JSON.parse(readFileSync(file, "utf8")).tokens);
	const files = new Map();
	for (const t of ours) {
		const file = t.address === native ? natives[t.symbol] : named.get(keyOf(t).toLowerCase());
		if (file) files.set(keyOf(t), file);
	}
	const alike = new Map(ours.filter((t) => files.has(keyOf(t))).map((t) => [looks(t), files.get(keyOf(t))]));
	for (const t of ours) if (!files.has(keyOf(t)) && alike.has(looks(t))) files.set(keyOf(t), alike.get(looks(t)));
	rmSync(folder, { recursive: true, force: true });
	mkdirSync(folder);
	const marks = {};
	let bytes = 0;
	for (const [key, file] of [...files].sort()) {
		const name = file.toLowerCase().replace(/[^a-z0-9]/g, "-");
		const script = join(at.core, "package/dist/svgs/tokens/branded", `${file}.svg.js`);
		if (!existsSync(script)) continue;
		const svg = tidy((await import(pathToFileURL(script))).default);
		if (svg.length > largest || !harmless(svg)) {
			console.log(`${key}: ${file} of ${svg.length} bytes is not taken`);
			continue;
		}
		marks[key] = name;
		const out = join(folder, `${name}.svg`);
		if (!existsSync(out)) bytes += svg.length;
		writeFileSync(out, svg + "\n");
	}
	const lines = Object.entries(marks).map(([key, name]) => `${JSON.stringify(key.toLowerCase())}: ${JSON.stringify(name)}`);
	writeFileSync("marks.json", `{\n"sources": ${JSON.stringify(sources)},\n"marks": {\n${lines.join(",\n")}\n}\n}\n`);
	console.log(`${lines.length} of ${ours.length} tokens, ${new Set(Object.values(marks)).size} marks, ${bytes} bytes`);
}

const dir = mkdtempSync(join(tmpdir(), "marks"));
try {
	await main(dir);
} finally {
	rmSync(dir, { recursive: true });
}
