/** Kept is what a page stores in the browser: the shown account, the theme, the language,
 * and until the browser closes the swap form. None of it is secret or wallet data. */
export interface Kept {
	account: string;
	theme: "system" | "light" | "dark";
	language: string;
	draft: unknown;
	provider: string;
}

const areas: { [K in keyof Kept]: "local" | "session" } = { account: "local", theme: "local", language: "local", draft: "session", provider: "session" };

/** kept returns a stored value; undefined if there is none or it cannot be read. All but
 * the draft are strings, and the caller must check that the string is a valid value. */
export async function kept<K extends keyof Kept>(key: K): Promise<Kept[K] | undefined> {
	const found: Record<string, unknown> = await chrome.storage[areas[key]].get(key).catch(() => ({})); // storage may be broken; show the wallet anyway
	const value = found[key];
	return key === "draft" || typeof value === "string" ? (value as Kept[K]) : undefined;
}

export function keep<K extends keyof Kept>(key: K, value: Kept[K]): void {
	chrome.storage[areas[key]].set({ [key]: value }).catch(() => {}); // if that fails, the value is lost when the page closes
}
