import type { Hello } from "./protocol";
import type { WireError } from "./failure";

/** Link is what stands between the extension and the daemon, as every page shows
 * it. Only in `ready` is anything answered. */
export type Link =
	| { at: "connecting" }
	| { at: "ready"; hello: Hello }
	/** The host ended or broke off; it is started again at `retryAt` (ms since 1970). */
	| { at: "lost"; reason: string; retryAt: number }
	/** The browser finds no host, or one that may not be used by this extension. */
	| { at: "missing"; reason: string }
	| { at: "forbidden"; reason: string }
	/** No common protocol version: `update` has to be updated. */
	| { at: "outdated"; update: "client" | "daemon"; reason: string }
	/** The daemon said why it does not serve us. */
	| { at: "refused"; error: WireError };
