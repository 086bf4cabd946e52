import type { Offer, Provider, ProviderKind, Support } from "../wire/protocol";
import { locale } from "../i18n/t";
import { grouped, parseAmount } from "../money/amount";
import type { MessageKey } from "../i18n/keys";
import type { Draft } from "./draft";
import type { Facts } from "./condition";
import type { PanelState } from "./panel";
import { expired, type Query, sameQuery, usable } from "./quotes";

/** Why a provider does not serve a swap, in words. */
export interface Unsupported {
	key: MessageKey;
	values?: readonly string[];
}

/** A Machine is what makes a provider's panel differ from the others: where it can
 * swap, and what is chosen in it. The stages are the same for all (panel.ts). */
export interface Machine {
	kind: ProviderKind;
	/** The user chooses where the output goes. */
	crossChain: boolean;
	/** The user chooses among several offers of this provider. */
	routes: boolean;
	/** unsupported names what keeps the provider from a swap between two networks. */
	unsupported(provider: Provider, from: Place, to: Place): Unsupported | undefined;
}

/** A Place is a network that a swap begins or ends on. */
export interface Place {
	chainId: number;
	name: string;
}

/** How a network stands in a provider's support table; its own chains beyond the table
 * are destinations only. */
export function support(provider: Provider, chainId: number): Support | undefined {
	return provider.support[String(chainId)];
}

/** onActive refuses networks that the support table has not as active. */
export function onActive(provider: Provider, at: Place): Unsupported | undefined {
	if (!provider.ready) return { key: "unsupported_not_ready", values: [provider.reason ?? ""] };
	const row = support(provider, at.chainId);
	if (row?.support === "disabled") return { key: "unsupported_disabled", values: [at.name] };
	return row?.support === "active" ? undefined : { key: "unsupported_network", values: [at.name] };
}

/** crossing refuses networks that a swap cannot leave or reach. */
export function crossing(provider: Provider, from: Place, to: Place): Unsupported | undefined {
	if (from.chainId === to.chainId) return undefined;
	if (!support(provider, from.chainId)?.crossChainEnabled) return { key: "unsupported_leaving", values: [from.name] };
	const row = support(provider, to.chainId);
	return row && (row.support !== "active" || !row.crossChainEnabled) ? { key: "unsupported_destination", values: [to.name] } : undefined;
}

/** What the form is filled in with, and what is known of the wallet. */
export interface Inputs {
	draft: Draft;
	account: string | undefined;
	from: Place;
	to: Place;
	/** The daemon reads the destination itself; else only the provider tells of the end. */
	seen: boolean;
	slippage: number;
	provider: Provider | undefined;
	/** Of the token in and of the native coin, base units; undefined while unknown. */
	balance: string | undefined;
	coinBalance: string | undefined;
	coin: { symbol: string; decimals: number };
}

/** amountOf is the typed amount in base units. */
export function amountOf(draft: Draft): string | undefined {
	return draft.tokenIn && parseAmount(draft.amount, draft.tokenIn.decimals, locale());
}

/** queryOf is what to ask for, once the form is filled in with something that can be
 * asked. More than the balance is not asked for: no offer could be carried out. */
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

/** chosenOffer is the one that the user picked, else the best that can be used. */
export function chosenOffer(state: PanelState, now: number): Offer | undefined {
	const { offers } = state.quotes;
	return offers.find((o) => o.id === state.chosen?.id) ?? offers.find((o) => usable(o, now)) ?? offers[0];
}

/** missesChoice tells quotes that do not have what the user picked: another offer is shown. */
export function missesChoice({ chosen, quotes }: PanelState): boolean {
	return !!chosen && quotes.at === "shown" && quotes.offers.length > 0 && !quotes.offers.some((o) => o.id === chosen.id);
}

/** missingGas is how much of the native coin an offer's gas lacks, in wei; undefined:
 * there is enough, or it is not known yet. The plan's own check is the daemon's. */
export function missingGas(inputs: Inputs, offer: Offer | undefined): string | undefined {
	if (!offer?.gasCost || offer.gasless || inputs.coinBalance === undefined) return undefined;
	const spent = BigInt(inputs.draft.tokenIn?.address === native ? (amountOf(inputs.draft) ?? "0") : "0");
	const left = BigInt(inputs.coinBalance) - spent - BigInt(offer.gasCost);
	return left < 0n ? (-left).toString() : undefined;
}

const native = "0x0000000000000000000000000000000000000000";

/** factsOf is what the button's words follow from. Offers for what stood in the form a
 * moment ago count for nothing, and offers that hold no more say nothing of gas. Of
 * several routes the chosen one counts. */
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
		grouped: grouped(draft.amount, locale()),
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
