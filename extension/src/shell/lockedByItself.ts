import type { Channel } from "../state/channel";
import { store } from "../state/store";

/** lockedByItself: the wallet was not locked by anybody, but for want of use. */
export const lockedByItself = store(false);

/** heedLocks keeps it right; the page calls it at its start. */
export function heedLocks(shell: Pick<Channel, "on">): void {
	shell.on("keys.changed", ({ cause, idle }) => {
		if (cause === "locked") lockedByItself.set(idle ?? false);
		if (cause === "unlocked") lockedByItself.set(false);
	});
}
