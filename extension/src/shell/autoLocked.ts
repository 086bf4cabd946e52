import type { Channel } from "../state/channel";
import { store } from "../state/store";

/** autoLocked is true if the wallet was locked by the auto-lock. */
export const autoLocked = store(false);

/** followLocks keeps autoLocked up to date. The page calls it once at its start. */
export function followLocks(shell: Pick<Channel, "on">): void {
	shell.on("keys.changed", ({ cause, idle }) => {
		if (cause === "locked") autoLocked.set(idle ?? false);
		if (cause === "unlocked") autoLocked.set(false);
	});
}
