import { describe, expect, it } from "vitest";
import { condition, type Facts } from "./condition";

const fine: Facts = {
	network: "Ethereum", unsupported: undefined, symbolIn: "ETH", symbolOut: "USDC", same: false, typed: "1", amount: "10", balance: "10", coin: "ETH",
	missingGas: undefined, quotes: "shown", failure: undefined, unusable: undefined, preparing: false,
};

/** Each unmet condition in the order shown (wallets.md f7), with the text and the action. */
const order: [name: string, unmet: Partial<Facts>, key: string, act?: string][] = [
	["network or route", { unsupported: { key: "unsupported_network", values: ["Ethereum"] } }, "unsupported_network"],
	["token in", { symbolIn: undefined }, "button_choose_pay"],
	["token out", { symbolOut: undefined }, "button_choose_receive"],
	["two tokens", { same: true }, "button_same_token"],
	["an amount", { typed: " ", amount: undefined }, "button_enter_amount"],
	["one without thousands set apart", { amount: undefined, typed: "1,000", grouped: true }, "button_grouped_amount"],
	["one that can be read", { amount: undefined, typed: "1.2.3" }, "button_bad_amount"],
	["one above zero", { amount: "0", typed: "0.0" }, "button_enter_amount"],
	["balance", { balance: "9" }, "button_balance"],
	["gas", { missingGas: "0.1" }, "button_gas"],
	["the watch", { quotes: "taken" }, "button_resume", "resume"],
	["an answer", { quotes: "failed" }, "button_no_offer", "requote"],
	["one that holds", { quotes: "expired" }, "button_requote", "requote"],
	["a quote", { quotes: "asking" }, "button_quoting"],
	["a newer one", { quotes: "refreshing" }, "button_refreshing"],
	["one that can be carried out", { unusable: "needs more" }, "button_unusable"],
	["a plan", { preparing: true }, "button_preparing"],
];
// Two conditions on the same fact cannot be unmet together.
const field = (unmet: Partial<Facts>) => Object.keys(unmet);
const together = (a: Partial<Facts>, b: Partial<Facts>) => !field(a).some((k) => field(b).includes(k));

describe("the button", () => {
	it("reviews when all is met", () => expect(condition(fine)).toEqual({ key: "button_review", act: "review" }));
	it.each(order)("asks for %s", (_, unmet, key, act) => {
		const c = condition({ ...fine, ...unmet });
		expect([c.key, c.act]).toEqual([key, act]);
	});
	it("says the first that is unmet, of any two", () => {
		for (const [i, [, first, key]] of order.entries()) {
			for (const [, second] of order.slice(i + 1)) {
				if (together(first, second)) expect(condition({ ...fine, ...second, ...first }).key, JSON.stringify([first, second])).toBe(key);
			}
		}
	});
	it("acts on nothing but a review, a new quote and going on", () => {
		for (const [, unmet] of order) expect([undefined, "requote", "resume"]).toContain(condition({ ...fine, ...unmet }).act);
	});
	it("names what is missing", () => {
		expect(condition({ ...fine, balance: "9" }).values).toEqual(["ETH"]);
		expect(condition({ ...fine, missingGas: "0.1", coin: "POL" })).toMatchObject({ values: ["0.1", "POL"], level: "critical" });
		expect(condition({ ...fine, quotes: "failed", failure: { key: "button_failed", values: ["down"] } })).toMatchObject({ key: "button_failed", values: ["down"], act: "requote" });
		expect(condition({ ...fine, unusable: "needs more" }).values).toEqual(["needs more"]);
	});
	it("compares amounts as whole numbers, of any size", () => {
		const huge = "115792089237316195423570985008687907853269984665640564039457584007913129639935";
		expect(condition({ ...fine, amount: huge, balance: huge }).act).toBe("review");
		expect(condition({ ...fine, amount: "9007199254740993", balance: "9007199254740992" }).key).toBe("button_balance");
	});
	it("does not ask for a balance that is not known", () => expect(condition({ ...fine, balance: undefined }).act).toBe("review"));
	it("waits visibly", () => {
		for (const quotes of ["idle", "asking", "refreshing"] as const) expect(condition({ ...fine, quotes }).busy).toBe(true);
		expect(condition({ ...fine, preparing: true }).busy).toBe(true);
	});
});
