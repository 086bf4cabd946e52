import { useState } from "preact/hooks";
import { Button } from "../components/Button";
import { Modal } from "../components/Modal";
import { Refusal } from "../components/Refusal";
import { t } from "../i18n/t";
import type { Channel } from "../state/channel";
import { useOrders } from "../state/context";
import type { Order } from "../wire/protocol";
import type { OrderFormatter } from "./line";
import { settlementKind } from "./steps";
import { useAct } from "./useAct";
import { useConsentPassword } from "./useConsentPassword";

interface Props {
	order: Order;
	channel: Channel;
	format: OrderFormatter;
}

/** CancelOrder cancels an order, after a dialog that says what that costs. */
export function CancelOrder({ order, channel, format }: Props) {
	const { mergeOrder } = useOrders();
	const [asked, ask] = useState(false);
	const act = useAct(async (request) => {
		mergeOrder(await channel.call("swap.cancel", { request, order: order.id, digest: order.digest, ...password.take() }));
		ask(false);
	});
	const password = useConsentPassword(act.failure);
	return (
		<>
			<Button
				onClick={() => {
					act.clear();
					ask(true);
				}}
			>
				{t(order.terms.provider === "wallet" ? "order_cancel_revoke" : "order_cancel")}
			</Button>
			{asked && (
				<Modal title={t("order_cancel_title")} onClose={() => ask(false)}>
					<p>{t(costs(order), format.network(order.terms.srcChainId))}</p>
					{password.shown && <Refusal failure={password.shown} />}
					{password.field}
					<div class="row">
						<Button onClick={() => ask(false)}>{t("order_cancel_no")}</Button>
						{!act.failure?.is("cannot_cancel", "order_final", "nonce_used") && (
							<div class="grow">
								<Button kind="main critical" disabled={!password.ready} busy={act.busy} onClick={() => void act.run()}>
									{t("order_cancel_yes")}
								</Button>
							</div>
						)}
					</div>
				</Modal>
			)}
		</>
	);
}

/** costs returns what cancelling costs, by what was already sent or signed. */
function costs(order: Order): "order_cancel_sent" | "order_cancel_signed" | "order_cancel_free" {
	if ((order.attempts?.length ?? 0) > 0) return "order_cancel_sent";
	return settlementKind(order) === "signed" && order.submission ? "order_cancel_signed" : "order_cancel_free";
}
