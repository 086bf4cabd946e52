import type { Token } from "../wire/protocol";
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
	const before = (await kept("draft")) as Draft | undefined;
	if (before) draft.set({ ...emptyDraft, ...before });
	draft.subscribe((now) => keep("draft", now));
}
