import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../components/Announcer";
import { Avatar } from "../components/Avatar";
import { Button } from "../components/Button";
import { Countdown } from "../components/Countdown";
import { Mark } from "../components/Mark";
import type { MessageKey } from "../i18n/keys";
import { t } from "../i18n/t";
import { isToday, formatTime } from "../i18n/time";
import { go } from "../shell/route";
import type { Channel } from "../state/channel";
import { useOrders } from "../state/context";
import type { Entry, Order } from "../wire/protocol";
import { CancelOrder } from "./CancelOrder";
import { CardView } from "./CardView";
import { ConsentForm } from "./ConsentForm";
import { EvidenceView } from "./EvidenceView";
import { IsolationView } from "./IsolationView";
import { line, lineText, type OrderFormatter } from "./line";
import { SpeedUp } from "./SpeedUp";
import { StepList } from "./StepList";
import { StopWaiting } from "./StopWaiting";
import { orderSummary } from "./order-summary";
import { useOrderFormatter } from "./useOrderFormatter";

interface Props {
	order: Order;
	/** The order's history, if it was loaded. */
	history?: readonly Entry[] | undefined;
	channel: Channel;
}

/** Poll interval of an open order on screen, in ms. Changes arrive as notifications;
 * polling covers missed ones and updates the time of the daemon's last check. */
const pollInterval = 15_000;

/** OrderProgress shows the state of an order and what a person can do. */
export function OrderProgress({ order, history, channel }: Props) {
	const format = useOrderFormatter([order]);
	const glance = useOrderFormatter([order], true);
	const summary = orderSummary(order, format, usePolledOrder(order, channel), history);
	const words = lineText(summary.status.words);
	useAnnouncedChanges(words);
	const left = summary.until && <Countdown to={summary.until.time} label={t(summary.until.label)} past={t("order_time_over")} />;
	const consent = summary.card?.asks === "consent" ? summary.card : undefined; // the card that asks for consent goes first
	const acts = (summary.speedup || summary.cancel === true || summary.stop === true) && (
		<div class="row order-acts">
			{summary.speedup && <SpeedUp order={order} of={summary.speedup} channel={channel} format={format} />}
			{summary.cancel === true && <CancelOrder order={order} channel={channel} format={format} />}
			{summary.stop === true && <StopWaiting order={order} channel={channel} format={format} />}
		</div>
	);
	return (
		<div class="stack order">
			{!consent && order.state !== "unreadable" && <Head order={order} format={glance} />}
			{!order.ended && !order.condition && (
				<div class="order-now">
					<p class="row">
						<Mark of={summary.status.picture} tone={summary.status.tone} />
						<strong>{words}</strong>
					</p>
					{summary.now && <p>{lineText(summary.now)}</p>}
					{left}
				</div>
			)}
			{summary.card && !consent && <CardView card={summary.card}>{order.condition && left}</CardView>}
			{consent && <ConsentForm order={order} card={consent} left={left} channel={channel} format={format} glance={glance} />}
			{consent && <Head order={order} format={glance} />}
			{summary.card?.asks && acts}
			<StepList steps={summary.steps} />
			{!summary.card?.asks && acts}
			{summary.cancel && summary.cancel !== true && <p class="soft small">{lineText(summary.cancel)}</p>}
			{summary.stop && summary.stop !== true && <p class="soft small">{lineText(summary.stop)}</p>}
			<IsolationView order={order} format={format} />
			{summary.leftovers && <Leftovers order={order} format={format} />}
			{summary.close && (
				<p class="soft small order-close">
					{lineText(summary.close)} {order.checked && t("order_looked", formatTime(order.checked, isToday(order.checked) ? "clock" : "whole"))}
				</p>
			)}
			<EvidenceView order={order} format={format} />
		</div>
	);
}

/** Head shows what is swapped for what and by which provider, with both networks. */
function Head({ order, format }: { order: Order; format: OrderFormatter }) {
	const { terms, offer } = order;
	if (terms.provider === "wallet") return <p class="soft">{t("order_head_revoke", format.network(terms.srcChainId))}</p>;
	const across = terms.srcChainId !== terms.dstChainId;
	const likely = order.condition === "likely_paid" ? order.candidatePayment?.amount : undefined;
	const got = order.verdict?.state === "filled" ? order.verdict.received?.amount : likely;
	const out = (units: string) => format.amount(terms.dstChainId, terms.tokenOut, units);
	return (
		<div class="card order-head">
			<Side label="order_you_pay" amount={format.amount(terms.srcChainId, terms.tokenIn, terms.amountIn)} chainId={terms.srcChainId} format={format} />
			<span class="order-arrow" aria-hidden="true">
				→
			</span>
			<Side label={got ? "order_you_received" : order.ended ? "order_you_wanted" : "order_you_receive"} amount={out(got ?? offer.amountOut)} chainId={terms.dstChainId} format={format} />
			<p class="soft small order-by dots">
				<span>{lineText(line(across ? "order_by_across" : "order_by", format.provider(terms.provider)))}</span>
				<span>{t("order_at_least", out(terms.minOut))}</span>
			</p>
		</div>
	);
}

interface SideProps {
	label: MessageKey;
	amount: string;
	chainId: number;
	format: OrderFormatter;
}

function Side({ label, amount, chainId, format }: SideProps) {
	const network = format.network(chainId);
	return (
		<div class="order-side">
			<span class="soft small">{t(label)}</span>
			<strong class="number">{amount}</strong>
			<span class="soft small row">
				<Avatar of={String(chainId)} letter={network} size={14} />
				{network}
			</span>
		</div>
	);
}

function Leftovers({ order, format }: { order: Order; format: OrderFormatter }) {
	return (
		<div class="note warn stack tight">
			{order.leftovers?.map((l) => (
				<p key={l.token + l.spender}>{t("order_leftover", format.account(l.spender), format.amount(l.chainId, l.token, l.amount))}</p>
			))}
			<div>
				<Button onClick={() => go({ at: "approvals" })}>{t("order_to_approvals")}</Button>
			</div>
		</div>
	);
}

/** usePolledOrder polls an open order and returns when it was last read, in ms since 1970. */
function usePolledOrder({ id, final }: Order, channel: Channel): number {
	const { mergeOrder } = useOrders();
	const [looked, look] = useState(Date.now);
	useEffect(() => {
		if (final) return;
		const read = () => {
			if (document.visibilityState !== "visible") return;
			channel
				.call("swap.order", { order: id })
				.then((read) => {
					mergeOrder(read.order);
					look(Date.now());
				})
				.catch(() => {}); // the last state stays; a lost daemon has a screen of its own
		};
		const pause = setInterval(read, pollInterval);
		return () => clearInterval(pause);
	}, [id, final, channel]);
	return looked;
}

/** useAnnouncedChanges announces changes of the order's state, but not the state it was
 * opened with. */
function useAnnouncedChanges(words: string): void {
	const first = useRef(true);
	useEffect(() => {
		if (!first.current) announce(words);
		first.current = false;
	}, [words]);
}
