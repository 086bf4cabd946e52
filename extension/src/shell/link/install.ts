import { browsers } from "../../wire/protocol";

/** Names of browsers, as swapkeep install takes them. */
export type BrowserName = (typeof browsers)[number]["name"];

/** Operating systems; there are no programs for "other". */
export type System = "linux" | "mac" | "windows" | "other";

export interface Situation {
	browser: BrowserName;
	/** This extension's id. */
	id: string;
	/** The host does not allow this id by default. */
	unlisted: boolean;
}

/** installCommand returns the command that installs the programs, allows this extension and
 * registers the host with the browser. An id in braces (Firefox) is quoted, which works in
 * all shells. */
export function installCommand({ browser, id, unlisted }: Situation): string {
	const quoted = id.startsWith("{") ? `"${id}"` : id;
	return `swapkeep install --browser ${browser}${unlisted ? ` --extension-id ${quoted}` : ""}`;
}

/** doctorCommand diagnoses an installation. */
export const doctorCommand = "swapkeep doctor";

/** localProgram is how a program in the terminal's current folder is started. */
export const localProgram: Readonly<Record<Exclude<System, "other">, string>> = { linux: "./swapkeep", mac: "./swapkeep", windows: ".\\swapkeep" };

/** sameFamily lists the browsers of the same family, which cannot be told apart for certain. */
export function sameFamily(name: BrowserName): readonly (readonly [BrowserName, string])[] {
	const family = browsers.find((b) => b.name === name)?.family;
	return browsers.filter((b) => b.family === family).map((b) => [b.name, b.title]);
}
