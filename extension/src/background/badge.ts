import type { Ended } from "./ended";

const colours = { good: "#0f6e63", bad: "#b3261e" };

/** badge shows at the toolbar's icon how many orders ended unseen, in the colour of the
 * worst. */
export function badge(action: Pick<typeof chrome.action, "setBadgeText" | "setBadgeBackgroundColor">, ended: Ended): void {
	const all = Object.values(ended);
	void action.setBadgeText({ text: all.length > 0 ? String(all.length) : "" });
	void action.setBadgeBackgroundColor({ color: all.every(Boolean) ? colours.good : colours.bad });
}
