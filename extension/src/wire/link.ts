import type { Hello } from "./protocol";
import type { WireError } from "./failure";

/** Link is the state of the connection to the daemon, as every page shows it. Requests are
 * answered only in `ready`. */
export type Link =
	| { at: "connecting" }
	| { at: "ready"; hello: Hello }
	/** The host ended or broke off; it is restarted at `retryAt` (ms since 1970). */
	| { at: "lost"; reason: string; retryAt: number }
	/** The browser finds no host (missing), or this extension may not use it (forbidden). */
	| { at: "missing"; reason: string }
	| { at: "forbidden"; reason: string }
	/** No common protocol version: `update` is the side that has to be updated. */
	| { at: "outdated"; update: "client" | "daemon"; reason: string }
	/** The daemon gave an error as the reason why it does not serve this extension. */
	| { at: "refused"; error: WireError };
