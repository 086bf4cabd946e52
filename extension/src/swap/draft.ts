import type { Token } from "../wire/protocol";
import { isObject } from "../wire/object";
import { writeStored, readStored } from "../state/browser-storage";
import { store } from "../state/store";

/** A Draft is the content of the swap form. All panels share it, so that the same swap can
 * be tried with another provider; it survives closing the popup. */
export interface Draft {
	/** On the active network; undefined until chosen. */
	tokenIn: Token | undefined;
	tokenOut: Token | undefined;
	/** Network of the output; 0: the active one. Single-network panels ignore it. */
	destination: number;
	/** As typed, in whole units of tokenIn. */
	amount: string;
}

export const emptyDraft: Draft = { tokenIn: undefined, tokenOut: undefined, destination: 0, amount: "" };

export const draft = store<Draft>(emptyDraft);

/** restoreDraft loads the draft that was stored when the popup closed. */
export async function restoreDraft(): Promise<void> {
	const before = draftOf(await readStored("draft"));
	if (before) draft.set(before);
	draft.subscribe((now) => writeStored("draft", now));
}

/** draftOf validates a stored draft; undefined if there is none or it is malformed. */
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

/** clearAmount clears the amount and returns a function that restores it. A swap that was
 * consented to must not be offered again by a form still filled in. */
export function clearAmount(): () => void {
	const { amount } = draft.get();
	draft.update((d) => ({ ...d, amount: "" }));
	return () => draft.update((d) => (d.amount === "" ? { ...d, amount } : d));
}
