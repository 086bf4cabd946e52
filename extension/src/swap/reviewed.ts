import { shortAddress } from "../components/address";
import { t } from "../i18n/t";
import { useNetworkData } from "../state/context";
import { networkName } from "../state/network-name";
import { useStore } from "../state/store";
import { useTokens } from "../state/tokens";
import type { Network, Review, Terms, Token } from "../wire/protocol";
import { emptyDraft } from "./draft";
import type { Inputs, Place } from "./machine";

/** Reviewed has the tokens and networks of a plan's own terms, since the form may have
 * changed in the meantime. */
export interface Reviewed {
	tokenIn: Token;
	tokenOut: Token;
	from: Place;
	to: Place;
	/** The daemon reads the destination network itself. */
	destinationReadable: boolean;
	/** The native coin of the source network, which pays for gas. */
	coin: { symbol: string; decimals: number };
}

/** reviewed resolves the tokens and networks of terms, from the form and from tokenOf.
 * Amounts of an unknown token are shown in base units. */
export function reviewed(terms: Terms, form: FormNames, networks: readonly Network[], tokenOf: (chainId: number, address: string) => Token | undefined): Reviewed {
	const { tokenIn, tokenOut } = form.draft;
	const token = (chainId: number, address: string) => [tokenIn, tokenOut].find((k) => k && isAt(k, chainId, address)) ?? tokenOf(chainId, address) ?? unknownToken(chainId, address);
	const network = (chainId: number) => networks.find((n) => n.chainId === chainId);
	const place = (chainId: number): Place => ({ chainId, name: networkName(chainId, networks, [form.from, form.to]) });
	const { symbol, decimals } = network(terms.srcChainId) ?? { symbol: "wei", decimals: 0 };
	return {
		tokenIn: token(terms.srcChainId, terms.tokenIn),
		tokenOut: token(terms.dstChainId, terms.tokenOut),
		from: place(terms.srcChainId),
		to: place(terms.dstChainId),
		destinationReadable: network(terms.dstChainId) !== undefined,
		coin: { symbol, decimals },
	};
}

const isAt = (token: Token, chainId: number, address: string) => token.chainId === chainId && token.address.toLowerCase() === address.toLowerCase();

function unknownToken(chainId: number, address: string): Token {
	return { chainId, address, symbol: t("base_units_of", shortAddress(address)), name: address, decimals: 0, verified: false };
}

/** The names in the form. */
type FormNames = Pick<Inputs, "draft" | "from" | "to">;

const nothing: FormNames = { draft: emptyDraft, from: { chainId: 0, name: "" }, to: { chainId: 0, name: "" } };

/** useReviewed returns the tokens and networks of a review. */
export function useReviewed({ terms }: Review, form: FormNames = nothing): Reviewed {
	const networks = useStore(useNetworkData().networks);
	const lookup = useTokens([{ chainId: terms.srcChainId, address: terms.tokenIn }, { chainId: terms.dstChainId, address: terms.tokenOut }]);
	return reviewed(terms, form, networks, (chainId, address) => lookup(chainId, address).token);
}
