import { describe, expect, it } from "vitest";
import type { Finding, FindingCode, Review, Step } from "../wire/protocol";
import { resultOf } from "../wire/recorded";
import { confirmation } from "./confirmation";
import { mayConfirm } from "./panel";

const recorded = resultOf<Review>("swap", "prepare");
const finding = (code: FindingCode, severity: Finding["severity"]): Finding => ({ code, severity, text: code });
const call: Step = { kind: "call", effect: { kind: "swap", chainId: 1, target: "0x" } };
const typed: Step = { kind: "typed", effect: { kind: "order", chainId: 1, target: "0x" } };
const approve: Step = { kind: "call", effect: { kind: "approve", chainId: 1, target: "0x", approves: [{ token: "0x", spender: "0x", amount: "1" }] } };
const review = (part: Partial<Review>): Review => ({ ...recorded, findings: [], steps: [call], blocked: false, settlement: "own_call", ...part });

const scam = review({ findings: [finding("gas_excessive", "acknowledge"), finding("price_impact", "acknowledge")] });
const blocked = review({ blocked: true, findings: [finding("slippage_high", "warn"), finding("gas_insufficient", "block"), finding("gas_excessive", "acknowledge")] });

describe("the review's button", () => {
	it.each<[string, Review, FindingCode[], boolean, boolean, string, string | undefined]>([
		["a swap of ours", review({}), [], false, false, "confirm_swap", "confirm"],
		["a swap after an approval", review({ steps: [approve, call] }), [], false, false, "confirm_approve", "confirm"],
		["an order that is signed", review({ steps: [typed], settlement: "provider" }), [], false, false, "confirm_sign", "confirm"],
		["a deposit", review({ settlement: "provider" }), [], false, false, "confirm_swap", "confirm"],
		["an acknowledgement that is open", scam, [], false, false, "confirm_gas_excessive", undefined],
		["the next one", scam, ["gas_excessive"], false, false, "confirm_price_impact", undefined],
		["one of no name here", review({ findings: [finding("not_simulated", "acknowledge")] }), [], false, false, "confirm_acknowledge", undefined],
		["all that were acknowledged", scam, ["price_impact", "gas_excessive"], false, false, "confirm_anyway", "confirm"],
		["what is blocked, by its reason", blocked, ["gas_excessive"], false, false, "confirm_gas_insufficient", undefined],
		["what is blocked without a name", review({ blocked: true, findings: [finding("fee_raised", "block")] }), [], false, false, "confirm_blocked", undefined],
		["what is blocked without a finding", review({ blocked: true }), [], false, false, "confirm_blocked", undefined],
		["a plan that is over", review({}), [], true, false, "button_requote", "requote"],
		["a blocked plan that is over", blocked, [], true, false, "button_requote", "requote"],
		["consent under way", review({}), [], true, true, "confirm_executing", undefined],
	])("says of %s", (_, r, acknowledged, gone, executing, key, act) => {
		const c = confirmation(r, acknowledged, gone, executing);
		expect([c.key, c.act]).toEqual([key, act]);
	});
	it("is critical where a risk is taken or barred, and nowhere else", () => {
		expect(confirmation(scam, ["gas_excessive", "price_impact"], false, false).level).toBe("critical");
		expect(confirmation(blocked, [], false, false).level).toBe("critical");
		expect(confirmation(review({}), [], false, false).level).toBeUndefined();
	});
	it("confirms nothing that the panel would not", () => {
		const codes: FindingCode[] = ["gas_excessive", "price_impact", "gas_insufficient"];
		for (const r of [review({}), scam, blocked, review({ blocked: true })]) {
			for (let bits = 0; bits < 8; bits++) {
				const acknowledged = codes.filter((_, i) => bits & (1 << i));
				expect(confirmation(r, acknowledged, false, false).act === "confirm").toBe(mayConfirm({ review: r, acknowledged }));
			}
		}
	});
});
