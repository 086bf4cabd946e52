import { useState } from "preact/hooks";
import { Button } from "../components/Button";
import { Modal } from "../components/Modal";
import { Refusal } from "../components/Refusal";
import { locale, t } from "../i18n/t";
import { shownAmount } from "../money/amount";
import type { Channel } from "../state/channel";
import { useWallet } from "../state/context";
import { useStore } from "../state/store";
import { useArmed } from "../swap/useArmed";
import type { Order, Tier } from "../wire/protocol";
import type { Teller } from "./line";
import { useAct } from "./useAct";

interface Props {
	order: Order;
	channel: Channel;
	tell: Teller;
}

const tiers: readonly Tier[] = ["normal", "fast"];

/** SpeedUp sends the pending transaction once more for more gas. What goes beyond the
 * accepted ceiling is asked for by its amount. */
export function SpeedUp({ order, channel, tell }: Props) {
	const wallet = useWallet();
	const gas = useStore(wallet.gas);
	const [asked, ask] = useState(false);
	const [tier, choose] = useState<Tier>("fast");
	const act = useAct(async (request, tier: Tier, gasCeiling?: string) => {
		wallet.learn(await channel.call("swap.speedup", { request, order: order.id, digest: order.digest, tier, ...(gasCeiling ? { gasCeiling } : {}) }));
		ask(false);
	});
	const coin = (wei: string) => tell.coin(order.terms.srcChainId, wei);
	const needed = act.failure?.is("gas_ceiling") ? act.failure.details["needed"] : undefined;
	// It takes the place of the button that was just pressed.
	const armed = useArmed(needed ?? "");
	const price = (of: Tier) => (gas?.chainId === order.terms.srcChainId ? (gas[of].maxFeePerGas ?? gas[of].gasPrice) : undefined);
	return (
		<>
			<Button
				onClick={() => {
					act.clear();
					ask(true);
				}}
			>
				{t("order_speedup")}
			</Button>
			{asked && (
				<Modal title={t("order_speedup_title")} onClose={() => ask(false)}>
					<p>{t("order_speedup_text", gwei(order.attempts?.at(-1)?.maxFeePerGas ?? "0"), coin(order.terms.gasCeiling))}</p>
					<fieldset class="stack tight" aria-label={t("order_speedup_tier")}>
						{tiers.map((of) => (
							<label key={of} class="choice">
								<input type="radio" name="tier" checked={tier === of} onChange={() => choose(of)} />
								<span>
									{t(`order_tier_${of}`)} {price(of) && <span class="soft small">· {t("order_gas_price", gwei(price(of) ?? "0"))}</span>}
								</span>
							</label>
						))}
					</fieldset>
					{act.failure && <Refusal failure={act.failure} amounts={{ coin }} />}
					{needed ? (
						<Button kind="main critical" disabled={!armed} busy={act.busy} onClick={() => void act.run(tier, needed)}>
							{t("order_speedup_more", coin(needed))}
						</Button>
					) : (
						<Button kind="main" busy={act.busy} onClick={() => void act.run(tier)}>
							{t("order_speedup_yes")}
						</Button>
					)}
				</Modal>
			)}
		</>
	);
}

const gwei = (wei: string) => `${shownAmount(wei, 9, 3, locale())} gwei`;
