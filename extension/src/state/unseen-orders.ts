import { useEffect } from "preact/hooks";
import { type UnseenOrders, onUnseenChanged, markSeen } from "../background/unseen-orders";
import { store, useStore } from "./store";

/** unseenOrders holds the orders that ended while no page was open and were not looked at since;
 * the toolbar badge counts the same. */
export const unseenOrders = store<UnseenOrders>({});

/** followUnseenOrders keeps unseenOrders up to date. The page calls it once at its start. */
export function followUnseenOrders(): void {
	onUnseenChanged(unseenOrders.set);
}

/** useMarkSeen marks orders as looked at. Views that show single orders call it. */
export function useMarkSeen(orders: readonly { id: string }[]): void {
	const unseen = useStore(unseenOrders);
	const ids = orders.map((o) => o.id).filter((id) => Object.hasOwn(unseen, id));
	useEffect(() => {
		if (ids.length > 0) markSeen(ids);
	}, [ids.join()]);
}
