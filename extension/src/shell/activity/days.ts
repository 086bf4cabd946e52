import type { Order } from "../../wire/protocol";

/** A Group is orders that stand under one heading. `day` is midnight of it, by the
 * reader's clock, in ms since 1970; undefined: those that are open. */
export interface Group {
	day: number | undefined;
	orders: Order[];
}

/** grouped puts open orders first and the ended ones under their days, newest first. */
export function grouped(orders: readonly Order[]): Group[] {
	const open = orders.filter((o) => !o.final);
	const groups: Group[] = open.length ? [{ day: undefined, orders: open }] : [];
	for (const order of orders.filter((o) => o.final)) {
		const day = new Date(order.created).setHours(0, 0, 0, 0);
		const last = groups.at(-1);
		if (last && last.day === day) last.orders.push(order);
		else groups.push({ day, orders: [order] });
	}
	return groups;
}
