import type { Channel } from "../../state/channel";

/** NewWallet is a wallet just made, with its recovery phrase while that may be shown. `words` is
 * empty if the answer with them was lost, or after the wallet locked. */
export interface NewWallet {
	name: string;
	words: readonly string[];
	warning: string | undefined;
	checking: boolean;
	locked?: true;
}

/** dropWordsOnLock removes the phrase from the screen when the wallet locks, so that a
 * locked or abandoned wallet does not show it. It returns a function that ends this. */
export function dropWordsOnLock(shell: Pick<Channel, "on">, made: NewWallet, set: (made: NewWallet) => void): () => void {
	return shell.on("keys.changed", ({ cause }) => {
		if (cause === "locked" && made.words.length > 0) set({ ...made, words: [], checking: false, locked: true });
	});
}
