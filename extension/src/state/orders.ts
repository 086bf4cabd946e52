import type { Order } from "../wire/protocol";
import { batched } from "./batched";
import { type Connection, readWhenReady } from "./connection";
import { readOn } from "./refresh";
import { store, type Store } from "./store";

/** Orders per page. */
const orderPageSize = 50;

/** Orders are the orders of all accounts, open and ended. */
export interface Orders {
	/** Newest first. */
	orders: Store<readonly Order[]>;
	/** Cursor of the next page of orders; undefined at the end. */
	moreOrders: Store<string | undefined>;
	loadMoreOrders(): Promise<void>;
	/** mergeOrder takes an order from an answer, ahead of its notification. */
	mergeOrder(order: Order): void;
}

/** createOrders calls `ended` when the daemon tells of orders that ended. */
export function createOrders(connection: Connection, ended: () => void): Orders {
	const { shell } = connection;
	const orders = store<readonly Order[]>([]);
	const moreOrders = store<string | undefined>(undefined);
	const read = async (cursor?: string) => {
		const before = new Set(orders.get());
		const page = await shell.call("swap.orders", cursor ? { limit: orderPageSize, cursor } : { limit: orderPageSize });
		// Orders that changed while this was asked are newer than the answer, or not in it.
		orders.update((all) => page.orders.reduce(withOrder, cursor ? all : all.filter((o) => !before.has(o))));
		moreOrders.set(page.cursor);
	};
	readWhenReady(connection, () => read());
	readOn(shell, "swap.order", batched((changed: readonly Order[]) => {
		orders.update((before) => changed.reduce(withOrder, before));
		if (changed.some((o) => o.ended)) ended();
	}));
	return {
		orders,
		moreOrders,
		async loadMoreOrders() {
			const cursor = moreOrders.get();
			if (cursor) await read(cursor);
		},
		mergeOrder: (order) => orders.update((all) => withOrder(all, order)),
	};
}

/** withOrder merges an order into a list, newest first. Of two with one id, the higher
 * revision is kept, in whichever order they arrive. */
export function withOrder(orders: readonly Order[], order: Order): readonly Order[] {
	const at = orders.findIndex((o) => o.id === order.id);
	if (at >= 0 && orders[at]!.revision > order.revision && order.state !== "unreadable") return orders; // a damaged record has no revision number
	const others = orders.filter((o) => o.id !== order.id);
	const place = others.findIndex((o) => o.created < order.created);
	return place < 0 ? [...others, order] : [...others.slice(0, place), order, ...others.slice(place)];
}
