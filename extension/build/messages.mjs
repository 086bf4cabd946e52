import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..", "messages");

/** languages returns the languages that have messages. */
export const languages = async () => (await readdir(folder, { withFileTypes: true })).filter((e) => e.isDirectory()).map((e) => e.name);

/** messages returns a language's messages in the format of _locales, merged from one file
 * per subject. It throws if two files have the same key. */
export async function messages(language) {
	const all = {};
	for (const name of (await readdir(join(folder, language))).sort()) {
		for (const [key, message] of Object.entries(JSON.parse(await readFile(join(folder, language, name), "utf8")))) {
			if (all[key]) throw new Error(`messages/${language}/${name}: ${key} is in two parts`);
			all[key] = { message };
		}
	}
	return all;
}
