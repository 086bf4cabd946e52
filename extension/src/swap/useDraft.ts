import { useEffect } from "preact/hooks";
import type { Balance, Destination, Token } from "../wire/protocol";
import { useStore } from "../state/store";
import { NATIVE } from "../state/network-data";
import { type Draft, draft } from "./draft";

interface Around {
	active: number;
	crossChain: boolean;
	destinations: readonly Destination[] | undefined;
	balances: readonly Balance[];
	preselectedToken: Token | undefined;
	onClearPreselection: () => void;
}

/** adaptDraft adapts a draft to the panel and the active network: it drops tokens of other
 * networks, and selects the native coin by default. */
export function adaptDraft(before: Draft, { active, crossChain, balances }: Pick<Around, "active" | "crossChain" | "balances">): Draft {
	const coin = balances.find((b) => b.token === NATIVE)?.known;
	const tokenIn = before.tokenIn?.chainId === active ? before.tokenIn : coin?.chainId === active ? coin : undefined;
	const to = crossChain && before.destination ? before.destination : active;
	const tokenOut = before.tokenOut?.chainId === to ? before.tokenOut : undefined;
	const same = tokenIn === before.tokenIn && tokenOut === before.tokenOut;
	return same ? before : { ...before, tokenIn, tokenOut, amount: tokenIn === before.tokenIn || !before.tokenIn ? before.amount : "" };
}

/** useDraft returns the form's draft, adapted to the panel and network. */
export function useDraft(around: Around): Draft {
	const { active, crossChain, balances, preselectedToken, onClearPreselection } = around;
	const now = useStore(draft);
	const fitted = adaptDraft(now, { active, crossChain, balances });
	useEffect(() => {
		// Applied to the present draft, as the user may have typed more.
		if (active !== 0 && fitted !== now) draft.update((d) => adaptDraft(d, { active, crossChain, balances }));
	}, [active, fitted, now]);
	useEffect(() => {
		if (!preselectedToken) return;
		draft.update((d) => ({ ...d, tokenIn: preselectedToken, tokenOut: sameAs(preselectedToken, d.tokenOut) ? undefined : d.tokenOut, amount: "" }));
		onClearPreselection();
	}, [preselectedToken]);
	return active === 0 ? now : fitted;
}

function sameAs(token: Token, other: Token | undefined): boolean {
	return token.address === other?.address && token.chainId === other.chainId;
}

/** swapSides swaps the two tokens, if both are on the active network. */
export function swapSides(d: Draft, active: number): Draft {
	if (d.tokenOut && d.tokenOut.chainId !== active) return d;
	return { ...d, tokenIn: d.tokenOut, tokenOut: d.tokenIn, amount: "" };
}
