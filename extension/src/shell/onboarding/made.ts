import type { Channel } from "../../state/channel";

/** Made is a wallet that was made here, with its words while they are to be seen. Without
 * words nobody has seen them, or the wallet locked meanwhile. */
export interface Made {
	name: string;
	words: readonly string[];
	warning: string | undefined;
	checking: boolean;
	locked?: true;
}

/** keepWhileUnlocked has the words taken away once the wallet locks: whoever locks it, or
 * has gone away, leaves nothing on the screen that is worth the money. It heeds locks
 * until the function that it returns is called. */
export function keepWhileUnlocked(shell: Pick<Channel, "on">, made: Made, set: (made: Made) => void): () => void {
	return shell.on("keys.changed", ({ cause }) => {
		if (cause === "locked" && made.words.length > 0) set({ ...made, words: [], checking: false, locked: true });
	});
}
