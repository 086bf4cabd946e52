import { useEffect } from "preact/hooks";
import { type Ended, onEnded, seeEnds } from "../background/ended";
import { store, useStore } from "./store";

/** ended holds the orders that ended while no page was open and were not looked at since;
 * the toolbar badge counts the same. */
export const ended = store<Ended>({});

/** followEnded keeps `ended` up to date. The page calls it once at its start. */
export function followEnded(): void {
	onEnded(ended.set);
}

/** useSeen marks orders as looked at. Views that show single orders call it. */
export function useSeen(orders: readonly { id: string }[]): void {
	const unseen = useStore(ended);
	const ids = orders.map((o) => o.id).filter((id) => Object.hasOwn(unseen, id));
	useEffect(() => {
		if (ids.length > 0) seeEnds(ids);
	}, [ids.join()]);
}
