import type { Quoted } from "../wire/protocol";

/** A page that is told of offers. */
export interface Listener {
	quoted(params: Quoted): void;
	taken(): void;
}

/** A Turn is one page's wish to have its quote watched. */
export interface Turn {
	readonly page: Listener;
	/** The native request; 0 until it is sent. */
	call: number;
}

/** Watches knows which page each running quote belongs to. The daemon watches one
 * quote a connection, that which was asked for last, and all pages share this one: the
 * page that asked last has it, and the one before is told. */
export class Watches {
	private asking = new Map<number, { page: Listener; id: number }>();
	private watching: Turn | undefined;

	/** take gives a page the watch, for the quote that it sends now. */
	take(page: Listener): Turn {
		const before = this.watching;
		this.watching = { page, call: 0 };
		if (before) {
			this.asking.delete(before.call);
			if (before.page !== page) before.page.taken();
		}
		return this.watching;
	}

	/** begun when a page's quote, its request `id`, goes out as the request `call`. */
	begun(call: number, page: Listener, id: number, turn: Turn | undefined): void {
		this.asking.set(call, { page, id });
		if (turn) turn.call = call;
	}

	/** answered ends a quote that is not watched. */
	answered(call: number): void {
		if (this.watching?.call !== call) this.asking.delete(call);
	}

	/** quoted hands offers to the page that asked, by the id it gave its request. */
	quoted(params: Quoted): void {
		const asked = this.asking.get(params.call as unknown as number);
		asked?.page.quoted({ ...params, call: asked.id });
	}

	/** left forgets what a page asked, and tells whether its watch has to be stopped. */
	left(page: Listener): boolean {
		for (const [call, asked] of this.asking) if (asked.page === page) this.asking.delete(call);
		if (this.watching?.page !== page) return false;
		this.watching = undefined;
		return true;
	}

	/** owns tells whether a page has the watch, and may prolong or stop it. */
	owns(page: Listener): boolean {
		return this.watching?.page === page;
	}
}
