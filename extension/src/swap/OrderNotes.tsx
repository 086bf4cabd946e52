import { Mark } from "../components/Mark";
import type { MessageKey } from "../i18n/keys";
import { t } from "../i18n/t";
import { lineText } from "../order/line";
import { orderStatus, received } from "../order/status";
import { belongsTo } from "../order/ownership";
import { go } from "../shell/route";
import { useConnection, useOrders } from "../state/context";
import { unseenOrders } from "../state/unseen-orders";
import { useStore } from "../state/store";
import type { Order } from "../wire/protocol";

/** OrderNotes shows above the form what is in progress and what ended unseen, so that after
 * a crash the user sees that a swap was accepted before repeating it. */
export function OrderNotes() {
	const account = useStore(useConnection().account)?.address;
	const orders = useStore(useOrders().orders);
	const unseen = useStore(unseenOrders);
	return (
		<>
			<Note orders={orders.filter((o) => !o.ended && belongsTo(o, account))} one="under_way_one" several="under_way" />
			<Note orders={orders.filter((o) => o.ended && Object.hasOwn(unseen, o.id))} one="ended_one" several="ended" />
		</>
	);
}

/** Note shows the number of orders, or the state of a single one, and links to them. If
 * several ended, its icon is that of one that was not filled. */
function Note({ orders, one, several }: { orders: readonly Order[]; one: MessageKey; several: MessageKey }) {
	const [newest] = orders;
	if (!newest) return null;
	const at = orderStatus(orders.find((o) => o.ended && !received(o)) ?? newest);
	const single = orders.length === 1;
	return (
		<button type="button" class="note orders-note row" onClick={() => go(single ? { at: "order", id: newest.id } : { at: "activity" })}>
			<Mark of={at.picture} tone={at.tone} />
			<span class="grow">
				<strong>{single ? t(one) : t(several, orders.length)}</strong> {single && <span class="small">{lineText(at.words)}</span>}
			</span>
			<span aria-hidden="true">›</span>
		</button>
	);
}
