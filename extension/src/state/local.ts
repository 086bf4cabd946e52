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

export async function kept<K extends keyof Kept>(key: K): Promise<Kept[K] | undefined> {
	const found: Record<string, unknown> = await chrome.storage[areas[key]].get(key);
	return found[key] as Kept[K] | undefined;
}

export function keep<K extends keyof Kept>(key: K, value: Kept[K]): void {
	chrome.storage[areas[key]].set({ [key]: value }).catch(() => {}); // then it is asked for, or typed, again
}
