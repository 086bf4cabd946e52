import type { Link } from "./link";
import type { Events, Methods } from "./protocol";
import type { WireError } from "./failure";

/** What a page and the background say to each other over a runtime port. The
 * port's name is that of the handler that serves it (background/handlers). */
export interface PageRequest {
	id: number;
	method: keyof Methods | OwnMethod;
	params?: unknown;
}

/** Served by the background itself: `link.retry` looks for the host again now. */
export type OwnMethod = "link.retry";

export type PageMessage =
	| { id: number; result: unknown }
	| { id: number; error: WireError }
	| { link: Link }
	| PageEvent
	/** Another page watches a quote now: this page's is not refreshed any more. */
	| { event: "watch.taken" };

export type PageEvent = { [E in keyof Events]: { event: E; params: Events[E] } }[keyof Events];
