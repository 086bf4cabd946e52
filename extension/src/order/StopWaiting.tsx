import { useState } from "preact/hooks";
import { Button } from "../components/Button";
import { Modal } from "../components/Modal";
import { Refusal } from "../components/Refusal";
import { t } from "../i18n/t";
import type { Channel } from "../state/channel";
import { useOrders } from "../state/context";
import type { Order } from "../wire/protocol";
import type { OrderFormatter } from "./line";
import { handedOver, trusted } from "./steps";
import { useAct } from "./useAct";

interface Props {
	order: Order;
	channel: Channel;
	format: OrderFormatter;
}

/** StopWaiting closes an order whose end nothing proves, after a dialog that says what that
 * changes. */
export function StopWaiting({ order, channel, format }: Props) {
	const { mergeOrder } = useOrders();
	const [asked, ask] = useState(false);
	const act = useAct(async (request) => {
		mergeOrder(await channel.call("swap.close", { request, order: order.id, digest: order.digest }));
		ask(false);
	});
	return (
		<>
			<Button
				onClick={() => {
					act.clear();
					ask(true);
				}}
			>
				{t("order_stop")}
			</Button>
			{asked && (
				<Modal title={t("order_stop_title")} onClose={() => ask(false)}>
					<p>{handedOver(order) ? t("order_stop_text", trusted(order, format)) : t("order_stop_ended_text", format.network(order.terms.srcChainId))}</p>
					{act.failure && <Refusal failure={act.failure} />}
					<div class="row">
						<Button onClick={() => ask(false)}>{t("order_stop_no")}</Button>
						{!act.failure?.is("cannot_close", "order_final") && (
							<div class="grow">
								<Button kind="main" busy={act.busy} onClick={() => void act.run()}>
									{t("order_stop_yes")}
								</Button>
							</div>
						)}
					</div>
				</Modal>
			)}
		</>
	);
}
