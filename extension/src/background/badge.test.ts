import { expect, it, vi } from "vitest";
import { badge } from "./badge";
import type { UnseenOrders } from "./unseen-orders";

function shown(ended: UnseenOrders): unknown[] {
	const action = { setBadgeText: vi.fn(async () => {}), setBadgeBackgroundColor: vi.fn(async () => {}) };
	badge(action as never, ended);
	return [action.setBadgeText, action.setBadgeBackgroundColor].flatMap((f) => f.mock.calls[0] as unknown[]);
}

it("counts orders that ended, in the colour of the worst", () => {
	expect(shown({})).toEqual([{ text: "" }, { color: "#0f6e63" }]);
	expect(shown({ a: true })).toEqual([{ text: "1" }, { color: "#0f6e63" }]);
	expect(shown({ a: true, b: false, c: true })).toEqual([{ text: "3" }, { color: "#b3261e" }]);
});
