import type { UnseenOrders } from "./unseen-orders";

const colours = { allFilled: "#0f6e63", someNotFilled: "#b3261e" };

/** showBadge shows on the toolbar icon how many orders ended and were not seen yet: red if one
 * of them was not filled, otherwise green. Without such orders there is no badge. */
export function showBadge(action: Pick<typeof chrome.action, "setBadgeText" | "setBadgeBackgroundColor">, orders: UnseenOrders): void {
	const filled = Object.values(orders);
	void action.setBadgeText({ text: filled.length > 0 ? String(filled.length) : "" });
	void action.setBadgeBackgroundColor({ color: filled.every(Boolean) ? colours.allFilled : colours.someNotFilled });
}
