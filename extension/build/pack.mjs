import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { zipSync } from "fflate";

// Zip files cannot hold times before 1980; a fixed time keeps builds identical.
const mtime = new Date(1980, 0, 1, 12);

/** pack writes a folder's files into a zip, sorted by name. */
export async function pack(folder, file) {
	const entries = await readdir(folder, { recursive: true, withFileTypes: true });
	const names = entries.filter((e) => e.isFile()).map((e) => relative(folder, join(e.parentPath, e.name)).split(sep).join("/")).sort();
	const files = {};
	for (const name of names) files[name] = new Uint8Array(await readFile(join(folder, name)));
	await writeFile(file, zipSync(files, { level: 9, mtime }));
}
