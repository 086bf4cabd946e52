import { expect, it } from "vitest";
import type { Order } from "../wire/protocol";
import { belongsTo } from "./ownership";

const order = (state: string, account: string) => ({ state, terms: { account } }) as Order;

it("is of the account that pays, and a damaged record of everybody", () => {
	expect(belongsTo(order("settling", "0x1"), "0x1")).toBe(true);
	expect(belongsTo(order("settling", "0x2"), "0x1")).toBe(false);
	expect(belongsTo(order("settling", "0x2"), undefined)).toBe(false);
	expect(belongsTo(order("unreadable", "0x0"), "0x1")).toBe(true);
});
