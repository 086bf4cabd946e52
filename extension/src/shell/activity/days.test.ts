import { expect, it } from "vitest";
import type { Order } from "../../wire/protocol";
import { grouped } from "./days";

const order = (id: string, created: string, final = true) => ({ id, created, final }) as Order;

it("shows open orders first, then each day's", () => {
	const groups = grouped([
		order("e", "2026-11-20T15:00:00"), order("d", "2026-11-20T09:00:00", false), order("c", "2026-11-20T08:00:00"), order("b", "2026-11-19T23:59:00"), order("a", "2026-11-01T00:00:00", false),
	]);
	expect(groups.map((g) => g.orders.map((o) => o.id).join(""))).toEqual(["da", "ec", "b"]);
	expect(groups[0]?.day).toBeUndefined();
	expect(new Date(groups[1]?.day ?? 0).getDate()).toBe(20);
});

it("has no group of nothing", () => expect(grouped([])).toEqual([]));
