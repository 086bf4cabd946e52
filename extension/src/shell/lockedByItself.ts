import type { Channel } from "../state/channel";
import { store } from "../state/store";

/** lockedByItself is true if the wallet was locked by the auto-lock. */
export const lockedByItself = store(false);

/** heedLocks keeps lockedByItself up to date. The page calls it once at its start. */
export function heedLocks(shell: Pick<Channel, "on">): void {
	shell.on("keys.changed", ({ cause, idle }) => {
		if (cause === "locked") lockedByItself.set(idle ?? false);
		if (cause === "unlocked") lockedByItself.set(false);
	});
}
