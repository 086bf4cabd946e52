import type { Token } from "../wire/protocol";
import { isObject } from "../wire/object";
import { keep, kept } from "../state/local";
import { store } from "../state/store";

/** A Draft is what stands in the form. All panels share it, so that another provider
 * is tried with the same swap, and a popup that closed finds it again. */
export interface Draft {
	/** On the active network; undefined until chosen. */
	tokenIn: Token | undefined;
	tokenOut: Token | undefined;
	/** Where the output goes; 0: the active network. Panels of one network ignore it. */
	destination: number;
	/** As typed, in whole coins of tokenIn. */
	amount: string;
}

export const emptyDraft: Draft = { tokenIn: undefined, tokenOut: undefined, destination: 0, amount: "" };

export const draft = store<Draft>(emptyDraft);

/** restoreDraft brings back what stood in the form when the popup closed. */
export async function restoreDraft(): Promise<void> {
	const before = draftOf(await kept("draft"));
	if (before) draft.set(before);
	draft.subscribe((now) => keep("draft", now));
}

/** draftOf reads what was kept; undefined: nothing was, or not in this form. */
export function draftOf(kept: unknown): Draft | undefined {
	if (!isObject(kept)) return undefined;
	const { tokenIn, tokenOut, destination = 0, amount = "" } = kept as Partial<Record<keyof Draft, unknown>>;
	const formed = isToken(tokenIn) && isToken(tokenOut) && Number.isSafeInteger(destination) && typeof amount === "string";
	return formed ? { tokenIn, tokenOut, destination: destination as number, amount } : undefined;
}

function isToken(kept: unknown): kept is Token | undefined {
	if (kept === undefined) return true;
	if (!isObject(kept)) return false;
	const { chainId, address, symbol, name, decimals } = kept as Partial<Record<keyof Token, unknown>>;
	const texts = [address, symbol, name].every((text) => typeof text === "string");
	return texts && Number.isSafeInteger(chainId) && Number.isInteger(decimals) && Number(decimals) >= 0 && Number(decimals) <= 255;
}

/** emptied takes the amount out of the form, and gives what puts it back: a swap that
 * was consented to is not to be offered again by a form that is still filled in. */
export function emptied(): () => void {
	const { amount } = draft.get();
	draft.update((d) => ({ ...d, amount: "" }));
	return () => draft.update((d) => (d.amount === "" ? { ...d, amount } : d));
}
