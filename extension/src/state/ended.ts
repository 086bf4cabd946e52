import { useEffect } from "preact/hooks";
import { type Ended, onEnded, seeEnds } from "../background/ended";
import { store, useStore } from "./store";

/** ended are the orders that ended while no page was open and that nobody has looked at
 * yet; the badge at the toolbar's icon counts the same. */
export const ended = store<Ended>({});

/** followEnded keeps it right; the page calls it at its start. */
export function followEnded(): void {
	onEnded(ended.set);
}

/** useSeen is called where orders are shown one by one: these count as looked at. */
export function useSeen(orders: readonly { id: string }[]): void {
	const unseen = useStore(ended);
	const ids = orders.map((o) => o.id).filter((id) => Object.hasOwn(unseen, id));
	useEffect(() => {
		if (ids.length > 0) seeEnds(ids);
	}, [ids.join()]);
}
