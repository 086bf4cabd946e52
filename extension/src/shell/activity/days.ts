import type { Order } from "../../wire/protocol";

/** A Group is the orders under one heading: open, with a damaged record, or created on one
 * day. A day is its local midnight, in ms since 1970. */
export interface Group {
	of: "open" | "unreadable" | number;
	orders: Order[];
}

/** groupOrders puts open orders first, then damaged ones, then ended ones by the day they were
 * created, in the order given. */
export function groupOrders(orders: readonly Order[]): Group[] {
	const groups: Group[] = [];
	const add = (of: Group["of"], order: Order) => {
		const last = groups.at(-1);
		if (last?.of === of) last.orders.push(order);
		else groups.push({ of, orders: [order] });
	};
	const lost = (o: Order) => o.state === "unreadable";
	for (const o of orders) if (!o.ended && !lost(o)) add("open", o);
	for (const o of orders) if (lost(o)) add("unreadable", o);
	for (const o of orders) if (o.ended && !lost(o)) add(new Date(o.created).setHours(0, 0, 0, 0), o);
	return groups;
}
