import { expect, it } from "vitest";
import type { Order, Review } from "../wire/protocol";
import { changes } from "./changes";
import type { OrderFormatter } from "./line";

const format = { amount: (_: number, __: string, units: string) => units, coin: (_: number, wei: string) => `${wei} wei` } as OrderFormatter;
const terms = (minOut: string, feeBps: number, gasCeiling: string) => ({ minOut, feeBps, makerFeeBps: 20, gasCeiling }) as Order["terms"];

it("puts accepted and proposed bounds beside each other and marks what changed", () => {
	const review = { terms: terms("900", 20, "60"), findings: [{ code: "ceiling_raised", severity: "warn", text: "", data: { accepted: "50", proposed: "60" } }] } as unknown as Review;
	expect(changes({ terms: terms("1000", 20, "50") }, review, format)).toEqual([
		{ label: "order_bound_floor", accepted: "1000", proposed: "900", changed: true },
		{ label: "order_bound_fee", accepted: "0.4 %", proposed: "0.4 %", changed: false },
		{ label: "order_bound_ceiling", accepted: "50 wei", proposed: "60 wei", changed: true },
	]);
});

it("shows floors at a glance, unless that hides the change", () => {
	const glance = { ...format, amount: (_: number, __: string, units: string) => `${units.slice(0, 2)}…`, coin: () => "never cut" } as OrderFormatter;
	const floor = (accepted: string, proposed: string) => changes({ terms: terms(accepted, 20, "50") }, { terms: terms(proposed, 20, "60"), findings: [] } as unknown as Review, format, glance);
	expect(floor("1000", "900")).toMatchObject([{ accepted: "10…", proposed: "90…", changed: true }, {}, { accepted: "50 wei", proposed: "60 wei" }]);
	expect(floor("1000", "1001")[0]).toMatchObject({ accepted: "1000", proposed: "1001", changed: true });
	expect(floor("1000", "1000")[0]).toMatchObject({ accepted: "10…", proposed: "10…", changed: false });
});

it("believes the finding about what was accepted", () => {
	const review = { terms: terms("900", 20, "50"), findings: [{ code: "minimum_lowered", severity: "warn", text: "", data: { accepted: "1100", proposed: "900" } }] } as unknown as Review;
	expect(changes({ terms: terms("1000", 20, "50") }, review, format)[0]).toMatchObject({ accepted: "1100", proposed: "900", changed: true });
});
