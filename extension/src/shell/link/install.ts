import { browsers } from "../../wire/protocol";

/** Browsers by the names that swapkeep install has for them. */
export type BrowserName = (typeof browsers)[number]["name"];

/** Systems that there are programs for; other: there are none. */
export type System = "linux" | "mac" | "windows" | "other";

export interface Situation {
	browser: BrowserName;
	/** This extension's id. */
	id: string;
	/** The host does not know its id by itself. */
	unlisted: boolean;
}

/** installCommand puts the programs in their place, lets this extension in and lets the
 * browser find the host. An id in braces is quoted, as every shell takes it. */
export function installCommand({ browser, id, unlisted }: Situation): string {
	const quoted = id.startsWith("{") ? `"${id}"` : id;
	return `swapkeep install --browser ${browser}${unlisted ? ` --extension-id ${quoted}` : ""}`;
}

/** doctorCommand finds what is wrong with an installation. */
export const doctorCommand = "swapkeep doctor";

/** besides starts a program of the folder that a terminal is in. */
export const besides: Readonly<Record<Exclude<System, "other">, string>> = { linux: "./swapkeep", mac: "./swapkeep", windows: ".\\swapkeep" };

/** kindred are the browsers that cannot be told from this one for certain: all of its
 * family. */
export function kindred(name: BrowserName): readonly (readonly [BrowserName, string])[] {
	const family = browsers.find((b) => b.name === name)?.family;
	return browsers.filter((b) => b.family === family).map((b) => [b.name, b.title]);
}
