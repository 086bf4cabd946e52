/** StoredValues is what a page stores in the browser: the shown account, the theme, the language,
 * and until the browser closes the swap form. None of it is secret or wallet data. */
export interface StoredValues {
	account: string;
	theme: "system" | "light" | "dark";
	language: string;
	draft: unknown;
	provider: string;
}

const areas: { [K in keyof StoredValues]: "local" | "session" } = { account: "local", theme: "local", language: "local", draft: "session", provider: "session" };

/** readStored returns a stored value; undefined if there is none or it cannot be read. All but
 * the draft are strings, and the caller must check that the string is a valid value. */
export async function readStored<K extends keyof StoredValues>(key: K): Promise<StoredValues[K] | undefined> {
	const found: Record<string, unknown> = await chrome.storage[areas[key]].get(key).catch(() => ({})); // storage may be broken; show the wallet anyway
	const value = found[key];
	return key === "draft" || typeof value === "string" ? (value as StoredValues[K]) : undefined;
}

export function writeStored<K extends keyof StoredValues>(key: K, value: StoredValues[K]): void {
	chrome.storage[areas[key]].set({ [key]: value }).catch(() => {}); // if that fails, the value is lost when the page closes
}
