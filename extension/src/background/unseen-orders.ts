import type { Order } from "../wire/protocol";
import { received } from "../order/status";
import { isObject } from "../wire/object";

/** UnseenOrders holds the orders that ended while no page was open and were not looked at since:
 * order id to whether its output was received. It is kept in chrome.storage.session because the
 * browser may end the background at any time. Order ids are not secret. */
export type UnseenOrders = Readonly<Record<string, boolean>>;

const key = "ended";

/** read returns the stored value, or {} if it cannot be read. */
async function read(): Promise<UnseenOrders> {
	const kept: Record<string, unknown> = await chrome.storage.session.get(key).catch(() => ({}));
	return parseUnseen(kept[key]);
}

/** parseUnseen parses the stored value and drops entries that are malformed. */
export function parseUnseen(kept: unknown): UnseenOrders {
	if (!isObject(kept) || Array.isArray(kept)) return {};
	return Object.fromEntries(Object.entries(kept).filter((e): e is [string, boolean] => typeof e[1] === "boolean"));
}

/** onUnseenChanged calls `listener` now and after each change, whichever page or background
 * made it. */
export function onUnseenChanged(listener: (ended: UnseenOrders) => void): void {
	let changed = false;
	chrome.storage.session.onChanged.addListener((changes) => {
		if (!(key in changes)) return;
		changed = true;
		listener(parseUnseen(changes[key]?.newValue));
	});
	void read().then((ended) => changed || listener(ended));
}

/** Changes run one after the other, so that each starts from the result of the last. */
let turn: Promise<void> = Promise.resolve();

function change(of: (ended: UnseenOrders) => UnseenOrders): Promise<void> {
	turn = turn.then(async () => chrome.storage.session.set({ [key]: of(await read()) })).catch(() => {}); // if storage fails, the order is not announced
	return turn;
}

/** recordEnded records an order that ended. It may be called repeatedly: the daemon repeats
 * some notifications, and an order goes on changing after its end, when what is left in its
 * throwaway account comes back. Only the change that ended it is news. */
export function recordEnded(order: Order): void {
	if (order.ended && (order.endedAt ?? order.updated) === order.updated) void change((ended) => ({ ...ended, [order.id]: received(order) }));
}

/** markSeen removes orders that a person was shown. */
export function markSeen(ids: readonly string[]): void {
	void change((ended) => Object.fromEntries(Object.entries(ended).filter(([id]) => !ids.includes(id))));
}
