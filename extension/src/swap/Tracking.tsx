import { Button } from "../components/Button";
import { Loading } from "../components/Loading";
import { Screen } from "../components/Screen";
import { t } from "../i18n/t";
import { OrderProgress } from "../order/OrderProgress";
import { useOrders } from "../state/context";
import { useStore } from "../state/store";
import type { PanelFlow } from "./usePanel";

interface Props {
	id: string;
	flow: PanelFlow;
	onDone: () => void;
	onActivity: () => void;
}

/** Tracking shows the order that was just accepted. */
export default function Tracking({ id, flow, onDone, onActivity }: Props) {
	const orders = useStore(useOrders().orders);
	const order = orders.find((o) => o.id === id);
	if (!order) return <Loading />;
	return (
		<Screen title={t(order.ended ? "tracking_ended" : "tracking")}>
			<OrderProgress key={order.id} order={order} channel={flow.channel} />
			<div class="row">
				<Button onClick={onActivity}>{t("to_activity")}</Button>
				<div class="grow">
					<Button kind="main" onClick={onDone}>
						{t("another_swap")}
					</Button>
				</div>
			</div>
		</Screen>
	);
}
