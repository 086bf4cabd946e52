import { store } from "../../state/store";

export type Way = "create" | "import";

/** Setup is a wallet being made in this window.
 * open: its form is shown. held: nothing else may be shown, whatever happens to the
 * link or the lock: words that are shown once are on the screen, or on their way, or
 * were taken away by a lock, which has to be said. */
export type Setup = { stage: "none" } | { stage: "open" | "held"; way: Way };

/** settingUp is read by the App: it shows the Onboarding while it is not none. A tab
 * that was opened for it says so in its address. */
export const settingUp = store<Setup>(setupOf(globalThis.location?.hash ?? ""));

/** setupOf reads the part of the address behind "#". */
export function setupOf(hash: string): Setup {
	const way = hash.slice(1);
	return way === "create" || way === "import" ? { stage: "open", way } : { stage: "none" };
}

/** setUp begins one: here where the window stays open, or in a tab of its own. */
export function setUp(way: Way): void {
	if (inTab()) {
		settingUp.set({ stage: "open", way });
		return;
	}
	void chrome.tabs.create({ url: chrome.runtime.getURL(`popup.html?view=tab#${way}`) });
	// Firefox keeps a popup open behind the new tab.
	if (chrome.extension.getViews({ type: "popup" }).includes(window)) window.close();
}

/** endSetup leaves the wallet, or the welcome, to be shown. */
export function endSetup(): void {
	if (location.hash) history.replaceState(null, "", location.pathname + location.search);
	settingUp.set({ stage: "none" });
}

/** inTab: a popup closes when it loses the focus, a tab does not. */
export function inTab(): boolean {
	return document.documentElement.dataset["view"] === "tab";
}
