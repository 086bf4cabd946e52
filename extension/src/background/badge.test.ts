import { beforeEach, expect, it, vi } from "vitest";
import type { Order } from "../wire/protocol";
import { Badge } from "./badge";

const action = { setBadgeText: vi.fn(async () => {}), setBadgeBackgroundColor: vi.fn(async () => {}) };
const order = (id: string, state: Order["state"], final = true) => ({ id, state, final }) as Order;
const shown = () => [action.setBadgeText, action.setBadgeBackgroundColor].map((f) => (f.mock.lastCall as unknown as [object] | undefined)?.[0]);

beforeEach(() => void vi.clearAllMocks());

it("counts orders that ended, in the colour of the worst", () => {
	const badge = new Badge(action as never);
	badge.order(order("a", "filled"));
	expect(shown()).toEqual([{ text: "1" }, { color: "#0f6e63" }]);
	badge.order(order("b", "refunded"));
	expect(shown()).toEqual([{ text: "2" }, { color: "#b3261e" }]);
	badge.order(order("c", "filled"));
	expect(shown()).toEqual([{ text: "3" }, { color: "#b3261e" }]);
});

it("counts an order once, and none that goes on", () => {
	const badge = new Badge(action as never);
	badge.order(order("a", "executing", false));
	expect(shown()).toEqual([undefined, undefined]);
	badge.order(order("a", "filled"));
	badge.order(order("a", "filled"));
	expect(shown()[0]).toEqual({ text: "1" });
});

it("is empty once a page was opened", () => {
	const badge = new Badge(action as never);
	badge.order(order("a", "failed"));
	badge.seen();
	expect(shown()).toEqual([{ text: "" }, { color: "#0f6e63" }]);
	badge.order(order("b", "filled"));
	expect(shown()[0]).toEqual({ text: "1" });
});
