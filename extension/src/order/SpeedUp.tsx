import { useEffect, useState } from "preact/hooks";
import { Button } from "../components/Button";
import { Modal } from "../components/Modal";
import { Refusal } from "../components/Refusal";
import { locale, t } from "../i18n/t";
import { displayAmount } from "../money/amount";
import type { Channel } from "../state/channel";
import { useNetworkData, useOrders } from "../state/context";
import { useStore } from "../state/store";
import { useEnabledAfterDelay } from "../swap/useEnabledAfterDelay";
import type { Order, Tier } from "../wire/protocol";
import type { OrderFormatter } from "./line";
import type { OrderSummary } from "./order-summary";
import { useAct } from "./useAct";
import { useConsentPassword } from "./useConsentPassword";

interface Props {
	order: Order;
	of: NonNullable<OrderSummary["speedup"]>;
	channel: Channel;
	format: OrderFormatter;
}

const tiers: readonly Tier[] = ["normal", "fast"];

/** SpeedUp replaces the pending transaction with one that pays more, or raises the fee cap
 * of the transaction that cancels it. Going above the accepted fee cap takes a confirmation
 * that names the new one. */
export function SpeedUp({ order, of, channel, format }: Props) {
	const { mergeOrder } = useOrders();
	const [asked, ask] = useState(false);
	const [tier, choose] = useState<Tier>("fast");
	const act = useAct(async (request, tier: Tier, gasCeiling?: string) => {
		mergeOrder(await channel.call("swap.speedup", { request, order: order.id, digest: order.digest, tier, ...(gasCeiling ? { gasCeiling } : {}), ...password.take() }));
		ask(false);
	});
	const password = useConsentPassword(act.failure);
	const coin = (wei: string) => format.coin(order.terms.srcChainId, wei);
	// Cancelling may have started since this was drawn.
	const cancelling = of === "cancelling" || (act.failure?.is("cancel_in_progress", "too_late") ?? false);
	const [needed, need] = useState<string>();
	useEffect(() => {
		if (act.failure?.is("gas_ceiling")) need(act.failure.details["needed"]);
	}, [act.failure]);
	const ceiling = cancelling ? twice(order.terms.gasCeiling) : needed;
	// This button replaces the one just pressed, so it is enabled after a delay.
	const enabled = useEnabledAfterDelay(ceiling ?? "");
	const name = cancelling ? "order_raise" : "order_speedup";
	return (
		<>
			<Button
				onClick={() => {
					act.clear();
					need(undefined);
					ask(true);
				}}
			>
				{t(name)}
			</Button>
			{asked && (
				<Modal title={t(`${name}_title`)} onClose={() => ask(false)}>
					<p>{t(`${name}_text`, gwei(order.attempts?.at(-1)?.maxFeePerGas ?? "0"), coin(order.terms.gasCeiling))}</p>
					{!cancelling && <Tiers chainId={order.terms.srcChainId} value={tier} onChange={choose} />}
					{password.shown && <Refusal failure={password.shown} amounts={{ coin }} />}
					{password.field}
					{ceiling ? (
						<Button kind="main critical" disabled={!enabled || !password.ready} busy={act.busy} onClick={() => void act.run(tier, ceiling)}>
							{t(`${name}_more`, coin(ceiling))}
						</Button>
					) : (
						<Button kind="main" disabled={!password.ready} busy={act.busy} onClick={() => void act.run(tier)}>
							{t("order_speedup_yes")}
						</Button>
					)}
				</Modal>
			)}
		</>
	);
}

function Tiers({ chainId, value, onChange }: { chainId: number; value: Tier; onChange: (tier: Tier) => void }) {
	const gas = useStore(useNetworkData().gas);
	const price = (of: Tier) => (gas?.chainId === chainId ? (gas[of].maxFeePerGas ?? gas[of].gasPrice) : undefined);
	return (
		<fieldset class="stack tight" aria-label={t("order_speedup_tier")}>
			{tiers.map((of) => (
				<label key={of} class="choice">
					<input type="radio" name="tier" checked={value === of} onChange={() => onChange(of)} />
					<span>
						{t(`order_tier_${of}`)} {price(of) && <span class="soft small">· {t("order_gas_price", gwei(price(of) ?? "0"))}</span>}
					</span>
				</label>
			))}
		</fieldset>
	);
}

const gwei = (wei: string) => `${displayAmount(wei, 9, 3, locale())} gwei`;
const twice = (wei: string) => (2n * BigInt(wei)).toString();
