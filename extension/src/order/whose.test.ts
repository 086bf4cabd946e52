import { expect, it } from "vitest";
import type { Order } from "../wire/protocol";
import { isOf } from "./whose";

const order = (state: string, account: string) => ({ state, terms: { account } }) as Order;

it("is of the account that pays, and a damaged record of everybody", () => {
	expect(isOf(order("settling", "0x1"), "0x1")).toBe(true);
	expect(isOf(order("settling", "0x2"), "0x1")).toBe(false);
	expect(isOf(order("settling", "0x2"), undefined)).toBe(false);
	expect(isOf(order("unreadable", "0x0"), "0x1")).toBe(true);
});
