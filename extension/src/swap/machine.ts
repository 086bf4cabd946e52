import type { Offer, Provider, ProviderKind, Support } from "../wire/protocol";
import { locale } from "../i18n/t";
import { maybeThousands, parseAmount } from "../money/amount";
import type { MessageKey } from "../i18n/keys";
import type { Draft } from "./draft";
import type { Facts } from "./condition";
import type { PanelState } from "./panel";
import { expired, type Query, sameQuery, usable } from "./quotes";

/** Why a provider does not support a swap. */
export interface Unsupported {
	key: MessageKey;
	values?: readonly string[];
}

/** A Machine is how one provider's panel differs from the others: where it can swap, and
 * what is chosen in it. The stages are the same for all (panel.ts). */
export interface Machine {
	kind: ProviderKind;
	/** The user chooses the network of the output. */
	crossChain: boolean;
	/** The user chooses among several offers of this provider. */
	routes: boolean;
	/** unsupported says why the provider does not swap between two networks. */
	unsupported(provider: Provider, from: Place, to: Place): Unsupported | undefined;
}

/** A Place is a network that a swap starts or ends on. */
export interface Place {
	chainId: number;
	name: string;
	/** When it was shut down; undefined: it runs. */
	ended?: string | undefined;
}

/** supportOn returns a network's row in a provider's support table. Networks that only the
 * provider reaches have none, and can only be destinations. */
export function supportOn(provider: Provider, chainId: number): Support | undefined {
	return provider.support[String(chainId)];
}

/** unsupportedOn rejects networks that were shut down or are not active in the support table. */
export function unsupportedOn(provider: Provider, at: Place): Unsupported | undefined {
	if (at.ended) return { key: "unsupported_ended", values: [at.name] };
	if (!provider.ready) return { key: "unsupported_not_ready", values: [provider.reason ?? ""] };
	const row = supportOn(provider, at.chainId);
	if (row?.support === "disabled") return { key: "unsupported_disabled", values: [at.name] };
	return row?.support === "active" ? undefined : { key: "unsupported_network", values: [at.name] };
}

/** unsupportedRoute rejects networks that a swap cannot leave or reach. */
export function unsupportedRoute(provider: Provider, from: Place, to: Place): Unsupported | undefined {
	if (from.chainId === to.chainId) return undefined;
	if (to.ended) return { key: "unsupported_ended", values: [to.name] };
	if (!supportOn(provider, from.chainId)?.crossChainEnabled) return { key: "unsupported_leaving", values: [from.name] };
	const row = supportOn(provider, to.chainId);
	return row && (row.support !== "active" || !row.crossChainEnabled) ? { key: "unsupported_destination", values: [to.name] } : undefined;
}

/** Inputs are the content of the form and the wallet state that belongs to it. */
export interface Inputs {
	draft: Draft;
	account: string | undefined;
	from: Place;
	to: Place;
	/** The daemon reads the destination network itself; otherwise the end is known from the
	 * provider only. */
	destinationReadable: boolean;
	slippage: number;
	provider: Provider | undefined;
	/** Of tokenIn and of the native coin, base units; undefined while unknown. */
	balance: string | undefined;
	coinBalance: string | undefined;
	coin: { symbol: string; decimals: number };
}

/** amountOf returns the typed amount in base units. */
export function amountOf(draft: Draft): string | undefined {
	return draft.tokenIn && parseAmount(draft.amount, draft.tokenIn.decimals, locale());
}

/** queryOf returns the query for the form's content; undefined while it is incomplete or
 * invalid. More than the balance is not asked for, as no offer could be used. */
export function queryOf(machine: Machine, inputs: Inputs): Query | undefined {
	const { draft, account, from, to, slippage } = inputs;
	const amount = amountOf(draft);
	if (!account || !draft.tokenIn || !draft.tokenOut || !amount || amount === "0" || sameToken(inputs)) return undefined;
	if (draft.tokenIn.chainId !== from.chainId || draft.tokenOut.chainId !== to.chainId) return undefined;
	if (!inputs.provider || machine.unsupported(inputs.provider, from, to)) return undefined;
	if (inputs.balance !== undefined && BigInt(amount) > BigInt(inputs.balance)) return undefined;
	return { account, srcChainId: from.chainId, tokenIn: draft.tokenIn.address, amountIn: amount, dstChainId: to.chainId, tokenOut: draft.tokenOut.address, slippage };
}

export function sameToken({ draft: { tokenIn, tokenOut } }: Inputs): boolean {
	return !!tokenIn && !!tokenOut && tokenIn.chainId === tokenOut.chainId && tokenIn.address === tokenOut.address;
}

/** chosenOffer returns the offer that the user picked, else the first usable, else the first. */
export function chosenOffer(state: PanelState, now: number): Offer | undefined {
	const { offers } = state.quotes;
	return offers.find((o) => o.id === state.chosen?.id) ?? offers.find((o) => usable(o, now)) ?? offers[0];
}

/** chosenOfferGone reports whether the offers lack the one that the user picked, so that
 * another is shown. */
export function chosenOfferGone({ chosen, quotes }: PanelState): boolean {
	return !!chosen && quotes.at === "shown" && quotes.offers.length > 0 && !quotes.offers.some((o) => o.id === chosen.id);
}

/** missingGas returns how much native coin is missing for an offer's gas, in wei;
 * undefined: enough, or unknown. The daemon checks the plan itself. */
export function missingGas(inputs: Inputs, offer: Offer | undefined): string | undefined {
	if (!offer?.gasCost || offer.gasless || inputs.coinBalance === undefined) return undefined;
	const spent = BigInt(inputs.draft.tokenIn?.address === native ? (amountOf(inputs.draft) ?? "0") : "0");
	const left = BigInt(inputs.coinBalance) - spent - BigInt(offer.gasCost);
	return left < 0n ? (-left).toString() : undefined;
}

const native = "0x0000000000000000000000000000000000000000";

/** factsOf returns the input of the button's conditions. Offers for an earlier query are ignored,
 * and expired offers say nothing about gas. With several routes, the chosen one counts. */
export function factsOf(machine: Machine, inputs: Inputs, state: PanelState, shown: { missingGas: string | undefined; failure: Facts["failure"] }, now: number): Facts {
	const { draft, from, to, provider, balance, coin } = inputs;
	const offer = chosenOffer(state, now);
	const at = sameQuery(state.quotes.query, queryOf(machine, inputs)) ? state.quotes.at : "asking";
	const quotes = at === "shown" && offer && expired(offer, now) ? "expired" : at;
	return {
		network: from.name,
		unsupported: provider && machine.unsupported(provider, from, to),
		symbolIn: draft.tokenIn?.symbol,
		symbolOut: draft.tokenOut?.symbol,
		same: sameToken(inputs),
		typed: draft.amount,
		grouped: maybeThousands(draft.amount, locale()),
		amount: amountOf(draft),
		balance,
		coin: coin.symbol,
		missingGas: quotes === "shown" || quotes === "refreshing" ? shown.missingGas : undefined,
		quotes,
		failure: shown.failure,
		unusable: offer?.unusable,
		preparing: state.stage.at === "preparing",
	};
}
