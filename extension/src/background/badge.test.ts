import { expect, it, vi } from "vitest";
import { showBadge } from "./badge";
import type { UnseenOrders } from "./unseen-orders";

function shown(orders: UnseenOrders): unknown[] {
	const action = { setBadgeText: vi.fn(async () => {}), setBadgeBackgroundColor: vi.fn(async () => {}) };
	showBadge(action as never, orders);
	return [action.setBadgeText, action.setBadgeBackgroundColor].flatMap((f) => f.mock.calls[0] as unknown[]);
}

it("counts orders that ended, in red if one was not filled", () => {
	expect(shown({})).toEqual([{ text: "" }, { color: "#0f6e63" }]);
	expect(shown({ a: true })).toEqual([{ text: "1" }, { color: "#0f6e63" }]);
	expect(shown({ a: true, b: false, c: true })).toEqual([{ text: "3" }, { color: "#b3261e" }]);
});
