import { store } from "../../state/store";

export type SetupMethod = "create" | "import";

/** Setup is the state of making a wallet in this window. open: the form is shown. held:
 * nothing else may be shown, even if the link or the lock changes, because the recovery
 * phrase is displayed, was requested, or was removed by a lock (which has to be explained). */
export type Setup = { stage: "none" } | { stage: "open" | "held"; way: SetupMethod };

/** App shows Onboarding while currentSetup is not "none". A tab opened for it has that in its
 * address. */
export const currentSetup = store<Setup>(setupOf(globalThis.location?.hash ?? ""));

/** setupOf parses the fragment of the address. */
export function setupOf(hash: string): Setup {
	const way = hash.slice(1);
	return way === "create" || way === "import" ? { stage: "open", way } : { stage: "none" };
}

/** startSetup starts making a wallet: in this window if it is a tab, else in a new tab. */
export function startSetup(way: SetupMethod): void {
	if (inTab()) {
		currentSetup.set({ stage: "open", way });
		return;
	}
	void chrome.tabs.create({ url: chrome.runtime.getURL(`popup.html?view=tab#${way}`) });
	// Firefox keeps a popup open behind the new tab.
	if (chrome.extension.getViews({ type: "popup" }).includes(window)) window.close();
}

/** endSetup goes back to the wallet or the welcome screen. */
export function endSetup(): void {
	if (location.hash) history.replaceState(null, "", location.pathname + location.search);
	currentSetup.set({ stage: "none" });
}

/** inTab reports whether this is a tab. Unlike a popup, it stays open when it loses focus. */
export function inTab(): boolean {
	return document.documentElement.dataset["view"] === "tab";
}
