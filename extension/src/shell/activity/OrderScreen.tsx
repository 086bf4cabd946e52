import { useEffect, useState } from "preact/hooks";
import { Button } from "../../components/Button";
import { Loading } from "../../components/Loading";
import { Refusal } from "../../components/Refusal";
import { Screen } from "../../components/Screen";
import { t } from "../../i18n/t";
import { isToday, formatTime } from "../../i18n/time";
import { causeWords } from "../../order/cause-words";
import { CauseView } from "../../order/CauseView";
import { lineText } from "../../order/line";
import { OrderProgress } from "../../order/OrderProgress";
import { orderStatus } from "../../order/status";
import { useOrderFormatter } from "../../order/useOrderFormatter";
import { useConnection, useOrders } from "../../state/context";
import { useMarkSeen } from "../../state/unseen-orders";
import { useStore } from "../../state/store";
import { failureOf, type Failure } from "../../wire/failure";
import type { Order, OrderResult } from "../../wire/protocol";
import { go, type Route } from "../route";

/** OrderScreen shows one order with its history. */
export default function OrderScreen({ route }: { route: Extract<Route, { at: "order" }> }) {
	const { shell } = useConnection();
	const orders = useStore(useOrders().orders);
	const listed = orders.find((o) => o.id === route.id);
	const [read, failure, again] = useRecord(route.id, listed?.revision);
	const order = listed ?? read?.order;
	useMarkSeen(order ? [order] : []);
	return (
		<Screen title={t(order?.terms.provider === "wallet" ? "order_revoke_screen" : "order_screen")} onBack="back">
			{failure && (
				<>
					<Refusal failure={failure} />
					<Button onClick={failure.is("order_unknown") ? () => go({ at: "activity" }) : again}>{t(failure.is("order_unknown") ? "nav_activity" : "order_again")}</Button>
				</>
			)}
			{!order && !failure && <Loading />}
			{order && <OrderProgress key={order.id} order={order} history={read?.history} channel={shell} />}
			{order && read && read.history.length > 0 && <History order={order} history={read.history} omitted={read.omitted ?? 0} />}
		</Screen>
	);
}

/** Pause after a change before the record is read again, in ms. */
const settle = 300;

/** useRecord reads an order and its history, and again for each revision. */
function useRecord(id: string, revision: number | undefined): [OrderResult | undefined, Failure | undefined, () => void] {
	const { shell } = useConnection();
	const { mergeOrder } = useOrders();
	const [read, setRead] = useState<OrderResult | undefined>(undefined);
	const [failed, setFailed] = useState<{ id: string; failure: Failure } | undefined>(undefined);
	const [tries, setTries] = useState(0);
	useEffect(() => {
		let shown = true;
		const ask = () =>
			shell
				.call("swap.order", { order: id })
				.then((result) => {
					if (!shown) return;
					mergeOrder(result.order);
					setRead(result);
					setFailed(undefined);
				})
				.catch((thrown: unknown) => shown && setFailed({ id, failure: failureOf(thrown) }));
		// Debounce: one read is enough for several changes in quick succession.
		const wait = setTimeout(ask, read?.order.id === id ? settle : 0);
		return () => {
			shown = false;
			clearTimeout(wait);
		};
	}, [id, revision, tries]);
	return [read?.order.id === id ? read : undefined, failed?.id === id ? failed.failure : undefined, () => setTries((n) => n + 1)];
}

function History({ order, history, omitted }: { order: Order; history: OrderResult["history"]; omitted: number }) {
	const format = useOrderFormatter([order]);
	return (
		<details class="card">
			<summary>{t("order_history")}</summary>
			{omitted > 0 && <p class="soft small">{t("order_history_omitted", omitted)}</p>}
			<ol class="history">
				{history.map((h, i) => (
					<li key={i}>
						<time class="soft small number" dateTime={h.time}>
							{formatTime(h.time, isToday(h.time) ? "clock" : "whole")}
						</time>
						<span>
							{lineText(orderStatus({ state: h.state, ...(h.condition ? { condition: h.condition } : {}), final: false, terms: order.terms }).words)}
							{h.note && h.note !== h.condition && (
								<span class="soft small">
									{" · "}
									<CauseView cause={causeWords({ cause: h.cause, words: h.note }, order, format)} />
								</span>
							)}
						</span>
					</li>
				))}
			</ol>
		</details>
	);
}
