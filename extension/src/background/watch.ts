import type { Quoted } from "../wire/protocol";

/** A page that receives offers. taken is called when another page took over the watch. */
export interface OfferListener {
	quoted(params: Quoted): void;
	taken(): void;
}

/** A WatchRequest is the request of one page to have its quote watched. */
export interface WatchRequest {
	readonly page: OfferListener;
	/** JSON-RPC id of the native request; 0 until it is sent. */
	call: number;
}

/** Watches maps each running quote to the page that asked. The daemon watches one quote per
 * connection, the latest, and all pages share one connection. So the page that asked last
 * has the watch, and the page before it is notified. */
export class Watches {
	private asking = new Map<number, { page: OfferListener; id: number }>();
	private watching: WatchRequest | undefined;

	/** take gives the watch to a page, for the quote that it is about to send. */
	take(page: OfferListener): WatchRequest {
		const before = this.watching;
		this.watching = { page, call: 0 };
		if (before) {
			this.asking.delete(before.call);
			if (before.page !== page) before.page.taken();
		}
		return this.watching;
	}

	/** sent records that a page's quote, request `id` of the page, was sent to the host as
	 * request `call`. */
	sent(call: number, page: OfferListener, id: number, turn: WatchRequest | undefined): void {
		this.asking.set(call, { page, id });
		if (turn) turn.call = call;
	}

	/** answered ends a quote, unless it is being watched. */
	answered(call: number): void {
		if (this.watching?.call !== call) this.asking.delete(call);
	}

	/** quoted passes offers to the page that asked, under the id of its own request. */
	quoted(params: Quoted): void {
		const asked = this.asking.get(params.call as unknown as number);
		asked?.page.quoted({ ...params, call: asked.id });
	}

	/** forget forgets a page's quotes and reports whether the daemon's watch must be stopped. */
	forget(page: OfferListener): boolean {
		for (const [call, asked] of this.asking) if (asked.page === page) this.asking.delete(call);
		if (this.watching?.page !== page) return false;
		this.watching = undefined;
		return true;
	}

	/** owns reports whether a page has the watch, and so may prolong or stop it. */
	owns(page: OfferListener): boolean {
		return this.watching?.page === page;
	}
}
