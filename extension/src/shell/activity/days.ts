import type { Order } from "../../wire/protocol";

/** A Group is orders that stand under one heading: those that are open, those whose
 * record cannot be read, or those that ended on a day, of which it is midnight by the
 * reader's clock, in ms since 1970. */
export interface Group {
	of: "open" | "unreadable" | number;
	orders: Order[];
}

/** grouped puts open orders first, then those of which nobody knows when they ended, and
 * the ended ones under their days, newest first. */
export function grouped(orders: readonly Order[]): Group[] {
	const groups: Group[] = [];
	const add = (of: Group["of"], order: Order) => {
		const last = groups.at(-1);
		if (last?.of === of) last.orders.push(order);
		else groups.push({ of, orders: [order] });
	};
	const lost = (o: Order) => o.state === "unreadable";
	for (const o of orders) if (!o.final && !lost(o)) add("open", o);
	for (const o of orders) if (lost(o)) add("unreadable", o);
	for (const o of orders) if (o.final && !lost(o)) add(new Date(o.created).setHours(0, 0, 0, 0), o);
	return groups;
}
