import type { Order } from "../wire/protocol";

/** isOf reports whether an order is an account's, or may be: whose a damaged record was
 * nobody knows. */
export const isOf = (order: Order, account: string | undefined): boolean => order.state === "unreadable" || order.terms.account === account;
