import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

const root = import.meta.dirname;
const files = readdirSync(root, { recursive: true, encoding: "utf8" })
	.filter((name) => /\.tsx?$/.test(name) && !/\.test\./.test(name))
	.map((name) => join(root, name));

/** importsOf returns the files of ours that a file imports, types included. */
function importsOf(file: string): string[] {
	return [...readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)]
		.map(([, path]) => join(dirname(file), path!))
		.flatMap((path) => [path, `${path}.ts`, `${path}.tsx`].filter((p) => /\.tsx?$/.test(p) && existsSync(p)));
}

it("has no circle of imports, of types either", () => {
	const done = new Set<string>();
	const circles: string[] = [];
	const visit = (file: string, path: readonly string[]) => {
		if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].map((f) => f.slice(root.length + 1)).join(" -> "));
		if (path.includes(file) || done.has(file)) return;
		for (const next of importsOf(file)) visit(next, [...path, file]);
		done.add(file);
	};
	for (const file of files) visit(file, []);
	expect(files.length).toBeGreaterThan(150);
	expect(circles).toEqual([]);
});
