import { expect, it } from "vitest";
import { shortAddress } from "../components/address";
import type { Order } from "../wire/protocol";
import type { OrderFormatter } from "./line";
import { stepLines } from "./steps";

const permit2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
const depot = "0x1A7cB19eD24eF6dC2aD6C53Aa6a4a6B7E9b8317B";
const format = { amount: (_: number, __: string, units: string) => units, provider: () => "Intent", account: (a: string) => (a === permit2 ? "Permit2" : shortAddress(a)) } as unknown as OrderFormatter;

it.each([
	["intent", permit2, "Permit2"], ["intent", depot, "Intent 0x1A7c…317B"], ["wallet", depot, "0x1A7c…317B"],
] as const)("who may pull in an order of %s, %s, is called %s", (provider, spender, name) => {
	const approve = { kind: "call", effect: { kind: "approve", chainId: 1, target: depot, approves: [{ token: depot, spender, amount: "5" }] } };
	const order = { state: "approving", step: 0, final: false, terms: { provider, srcChainId: 1, dstChainId: 1 }, steps: [approve] } as unknown as Order;
	expect(stepLines(order, format)[0]?.title.values[0]).toBe(name);
});

it.each(["settling", "closed"] as const)("a payout that was only reported says so while the order is %s", (state) => {
	const deposit = { kind: "call", done: true, effect: { kind: "deposit", chainId: 1, target: depot, trustedTo: "intent_fillers" } };
	const order = { state, condition: "likely_paid", step: 1, final: false, terms: { provider: "intent", srcChainId: 1, dstChainId: 10 }, steps: [deposit] } as unknown as Order;
	const named = { ...format, network: String, trusted: String } as unknown as OrderFormatter;
	expect(stepLines(order, named).at(-1)).toMatchObject({ mark: "waiting", note: { key: "order_note_reported" } });
});
