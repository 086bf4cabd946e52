import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const folder = join(import.meta.dirname, "..", "messages");

/** languages that there are messages for. */
export const languages = () => readdir(folder);

/** messages of a language in the form of _locales: its parts, one a subject, in one. */
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
