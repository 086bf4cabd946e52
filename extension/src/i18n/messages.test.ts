import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

const root = join(import.meta.dirname, "..", "..");
const folder = join(root, "messages");
const parts = readdirSync(join(folder, "en")).sort();
const read = (language: string, part: string): Record<string, string> => JSON.parse(readFileSync(join(folder, language, part), "utf8"));
const all = (language: string) => Object.assign({}, ...parts.map((part) => read(language, part))) as Record<string, string>;
const holes = (text: string) => [...text.matchAll(/\$(\$|\d)/g)].map((m) => m[1]).sort();

const source = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
	.filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".test.ts"))
	.map((name) => readFileSync(join(root, "src", name), "utf8"))
	.join("\n");
// Keys built from data: the literal part before ${.
const made = [...source.matchAll(/`([a-z0-9_]+_)\$\{/g)].map((m) => m[1]!);
// And the literal part after }, of keys that end in one.
const ended = [...source.matchAll(/\}(_[a-z0-9_]+)`/g)].map((m) => m[1]!);
// Words that the terminal and dialogs alone show, and the lines of reviews, whose keys come from
// the daemon.
const terminal = ["host_", "do_host_", "line_", "dialog_", "act_"];
const manifest = readFileSync(join(root, "manifest", "base.json"), "utf8");

for (const language of readdirSync(folder, { withFileTypes: true }).filter((e) => e.isDirectory() && e.name !== "en").map((e) => e.name)) {
	describe(language, () => {
		it("has the same parts", () => expect(readdirSync(join(folder, language)).sort()).toEqual(parts));
		it.each(parts)("says all that is in %s", (part) => {
			const [ours, theirs] = [read("en", part), read(language, part)];
			expect(Object.keys(theirs).sort()).toEqual(Object.keys(ours).sort());
			for (const [key, text] of Object.entries(ours)) expect(holes(theirs[key]!), key).toEqual(holes(text));
		});
	});
}

it("has no message that nothing shows", () => {
	const shown = (key: string): boolean => source.includes(`"${key}"`) || manifest.includes(`__MSG_${key}__`) || [...made, ...terminal].some((prefix) => key.startsWith(prefix)) || joined(key);
	const joined = (key: string) => ended.some((end) => key.endsWith(end) && source.includes(`"${key.slice(0, -end.length)}"`));
	expect(Object.keys(all("en")).filter((key) => !shown(key))).toEqual([]);
});

it("has no empty message", () => {
	for (const [key, text] of Object.entries(all("en"))) expect(text.trim(), key).not.toBe("");
});
