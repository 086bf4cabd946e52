/** What a page keeps in the browser, none of it secret and none of it the
 * wallet's: which account is shown, the theme, the language, and, until the browser
 * closes, what stood in the swap's form. */
export interface Kept {
	account: string;
	theme: "system" | "light" | "dark";
	language: string;
	draft: unknown;
	provider: string;
}

const areas: { [K in keyof Kept]: "local" | "session" } = { account: "local", theme: "local", language: "local", draft: "session", provider: "session" };

/** kept is what was kept; undefined: nothing, or nothing that can be read. All but the
 * draft are texts, and whoever reads one looks whether it is one of its own. */
export async function kept<K extends keyof Kept>(key: K): Promise<Kept[K] | undefined> {
	const found: Record<string, unknown> = await chrome.storage[areas[key]].get(key).catch(() => ({})); // a broken profile shows the wallet all the same
	const value = found[key];
	return key === "draft" || typeof value === "string" ? (value as Kept[K]) : undefined;
}

export function keep<K extends keyof Kept>(key: K, value: Kept[K]): void {
	chrome.storage[areas[key]].set({ [key]: value }).catch(() => {}); // then it is asked for, or typed, again
}
