import type { UnseenOrders } from "./unseen-orders";

const colours = { good: "#0f6e63", bad: "#b3261e" };

/** badge shows on the toolbar icon how many orders ended and were not seen yet: red if one
 * of them was not filled, else green. */
export function badge(action: Pick<typeof chrome.action, "setBadgeText" | "setBadgeBackgroundColor">, ended: UnseenOrders): void {
	const all = Object.values(ended);
	void action.setBadgeText({ text: all.length > 0 ? String(all.length) : "" });
	void action.setBadgeBackgroundColor({ color: all.every(Boolean) ? colours.good : colours.bad });
}
