import { contractName, shortAddress } from "../components/address";
import { providerName } from "../i18n/provider-name";
import { locale, t } from "../i18n/t";
import { isToday, formatTime } from "../i18n/time";
import { rawAmount, shortAmount, fullAmount } from "../money/token-amount";
import { useConnection, useNetworkData } from "../state/context";
import { networkName } from "../state/network-name";
import { useStore } from "../state/store";
import { type Lookup, type TokenAt, useTokens } from "../state/tokens";
import type { Account, Network, Order } from "../wire/protocol";
import type { OrderFormatter } from "./line";
import { trusted } from "./trusted";

/** tokensOf returns the tokens that an order mentions. */
function tokensOf(order: Order): TokenAt[] {
	const { srcChainId, dstChainId, tokenIn, tokenOut, refund, wrap } = order.terms;
	const all: TokenAt[] = [{ chainId: srcChainId, address: tokenIn }, { chainId: dstChainId, address: tokenOut }];
	for (const address of [refund?.token, wrap, order.verdict?.spent?.token]) if (address) all.push({ chainId: srcChainId, address });
	for (const s of order.steps) for (const a of s.effect.approves ?? []) all.push({ chainId: s.effect.chainId, address: a.token });
	for (const l of order.leftovers ?? []) all.push({ chainId: l.chainId, address: l.token });
	for (const { token } of [...order.steps.flatMap((s) => s.effect.spends ?? []), ...(order.isolation?.returned ?? []), ...(order.isolation?.left ?? [])]) all.push({ chainId: srcChainId, address: token });
	const { candidatePayment, verdict } = order;
	if (candidatePayment) all.push({ chainId: candidatePayment.chainId, address: candidatePayment.token });
	if (verdict?.received) all.push({ chainId: verdict.state === "refunded" ? srcChainId : dstChainId, address: verdict.received.token });
	return all.filter((a, i) => all.findIndex((b) => b.chainId === a.chainId && b.address === a.address) === i);
}

/** orderFormatter returns an OrderFormatter that uses the known tokens, networks and accounts. */
export function orderFormatter(lookup: Lookup, networks: readonly Network[], accounts: readonly Account[], short = false): OrderFormatter {
	const network = (chainId: number) => networks.find((n) => n.chainId === chainId);
	return {
		amount(chainId, address, units) {
			const { token, pending } = lookup(chainId, address);
			if (token) return (short ? shortAmount : fullAmount)(units, token, locale());
			return pending ? "…" : rawAmount(units, address, (digits, of) => t("order_base_units", digits, of), locale());
		},
		coin(chainId, wei) {
			const n = network(chainId);
			return n ? (short ? shortAmount : fullAmount)(wei, n, locale()) : t("order_wei", wei);
		},
		network: (chainId) => networkName(chainId, networks),
		list: (names) => new Intl.ListFormat(locale()).format(names),
		account: (address) => accounts.find((a) => a.address === address)?.name ?? contractName(address) ?? shortAddress(address),
		trusted: (who) => trusted(who) ?? who,
		provider: providerName,
		time: (time) => formatTime(time, isToday(time) ? "clock" : "whole"),
	};
}

/** useOrderFormatter returns an OrderFormatter for these orders; `short` rounds amounts
 * down, for lists. */
export function useOrderFormatter(orders: readonly Order[], short = false): OrderFormatter {
	return orderFormatter(useTokens(orders.flatMap(tokensOf)), useStore(useNetworkData().networks), useStore(useConnection().accounts), short);
}
