import type { MessageKey } from "../i18n/keys";
import { NATIVE } from "../state/network-data";
import type { Effect, Order, Terms } from "../wire/protocol";
import { type Line, line, type OrderFormatter } from "./line";

/** fundLine says what a step moves to the throwaway account. A transfer of the coin is for network
 * fees, as far as the coin is not what is swapped. */
export function fundLine({ chainId, spends = [] }: Effect, terms: Terms, format: Pick<OrderFormatter, "amount">): Line {
	const [moved] = spends;
	if (!moved) return line("order_step_call");
	const amount = format.amount(chainId, moved.token, moved.amount);
	if (moved.token !== NATIVE) return line("order_step_fund", amount);
	if (terms.tokenIn !== NATIVE) return line("order_step_fund_gas", amount);
	return line("order_step_fund_both", amount, format.amount(chainId, NATIVE, (BigInt(moved.amount) - BigInt(terms.amountIn)).toString()));
}

/** isolatedFunds says where the input is that was moved to the throwaway account and not spent,
 * and how much of it came back; undefined if it was never moved there. */
export function isolatedFunds({ terms, steps, isolation }: Order): { key: MessageKey; back?: string } | undefined {
	const ofInput = (s: { token: string }) => s.token === terms.tokenIn;
	if (!steps.some((s) => s.effect.kind === "fund" && s.done && s.effect.spends?.some(ofInput))) return undefined;
	const back = isolation?.returned?.find(ofInput);
	if (back) return { key: "order_funds_returned", back: back.amount };
	if (isolation?.left?.some(ofInput)) return { key: "order_funds_isolated_left" };
	// Tokens go back before the coin does.
	const over = isolation?.left?.length || isolation?.returned?.some((r) => r.token === NATIVE);
	return { key: over ? "order_funds_isolated_taken" : "order_funds_isolated" };
}
