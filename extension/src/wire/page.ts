import type { Link } from "./link";
import type { Events, Methods } from "./protocol";
import type { WireError } from "./failure";

/** A PageRequest is a page's message to the background, over a runtime port. The port's name
 * selects the handler that serves it (background/handlers). */
export interface PageRequest {
	id: number;
	method: keyof Methods | OwnMethod;
	params?: unknown;
}

/** Methods that the background answers itself: `link.retry` looks for the host again now. */
export type OwnMethod = "link.retry";

export type PageMessage =
	| { id: number; result: unknown }
	| { id: number; error: WireError }
	| { link: Link }
	| PageEvent
	/** Another page's quote is watched now; this page's is no longer refreshed. */
	| { event: "watch.taken" };

export type PageEvent = { [E in keyof Events]: { event: E; params: Events[E] } }[keyof Events];
