import type { Order } from "../wire/protocol";

/** belongsTo reports whether an order belongs to an account. A damaged record may be anyone's,
 * so it counts for every account. */
export const belongsTo = (order: Order, account: string | undefined): boolean => order.state === "unreadable" || order.terms.account === account;
