import { expect, it } from "vitest";
import type { Order } from "../../wire/protocol";
import { groupOrders } from "./days";

const order = (id: string, created: string, ended = true) => ({ id, created, ended }) as Order;

it("shows open orders first, then each day's", () => {
	const groups = groupOrders([
		order("e", "2026-11-20T15:00:00"), order("d", "2026-11-20T09:00:00", false), order("c", "2026-11-20T08:00:00"), order("b", "2026-11-19T23:59:00"), order("a", "2026-11-01T00:00:00", false),
	]);
	expect(groups.map((g) => g.orders.map((o) => o.id).join(""))).toEqual(["da", "ec", "b"]);
	expect(groups[0]?.of).toBe("open");
	expect(new Date(groups[1]?.of ?? 0).getDate()).toBe(20);
});

it("has no day for what cannot be read", () => {
	const lost = (id: string, ended: boolean) => ({ ...order(id, "0001-01-01T00:00:00Z", ended), state: "unreadable" }) as Order;
	const groups = groupOrders([lost("c", true), order("b", "2026-11-20T08:00:00"), lost("a", false), order("o", "2026-11-20T09:00:00", false)]);
	expect(groups.map((g) => [typeof g.of === "number" ? "day" : g.of, g.orders.map((o) => o.id).join("")])).toEqual([["open", "o"], ["unreadable", "ca"], ["day", "b"]]);
});

it("has no group of nothing", () => expect(groupOrders([])).toEqual([]));
