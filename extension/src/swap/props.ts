import type { ComponentChildren } from "preact";
import type { Balance, Destination, Offer, ProviderKind, Token } from "../wire/protocol";
import type { Machine } from "./machine";

/** SwapContainerProps are the inputs of the swap container (wallet-swap.md §2). */
export interface SwapContainerProps {
	onTransactionComplete: () => void;
	preselectedToken: Token | undefined;
	onClearPreselection: () => void;
	walletTokensWithBalance: readonly Balance[];
	/** In wei; undefined while unknown. */
	nativeTokenBalance: string | undefined;
}

/** What every panel gets: the container's inputs, the shared slippage, and a function to
 * switch to another provider. */
export interface PanelProps extends SwapContainerProps {
	/** Percent. */
	slippage: number;
	onProvider: (kind: ProviderKind) => void;
}

/** What a panel gives the frame that all panels share. */
export interface FrameProps extends PanelProps {
	machine: Machine;
	/** The source of the tokens to receive. */
	source: "known" | "bridge" | "intent";
	/** Networks for the output; undefined: the active network only. */
	destinations?: readonly Destination[] | undefined;
	/** Tokens that the daemon does not have, for display. */
	extra?: readonly Token[] | undefined;
	/** Show the route as a picture. */
	route?: boolean;
	/** Additional facts about an offer. */
	about?: (offer: Offer) => ComponentChildren;
}
