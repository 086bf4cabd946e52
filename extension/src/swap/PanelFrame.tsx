import { useEffect, useRef } from "preact/hooks";
import type { Order } from "../wire/protocol";
import { useConnection, useNetworkData, useOrders } from "../state/context";
import { networkName } from "../state/network-name";
import { useStore } from "../state/store";
import { lazy } from "../shell/lazy";
import { go } from "../shell/route";
import { FormView } from "./FormView";
import { clearAmount } from "./draft";
import { type Inputs, queryOf } from "./machine";
import { ReviewView } from "./ReviewView";
import type { FrameProps } from "./props";
import { useDraft } from "./useDraft";
import { type PanelFlow, usePanel } from "./usePanel";

// Loaded separately: only needed after an order was accepted.
const Tracking = lazy(() => import("./Tracking"));

/** PanelFrame is what all panels share: form, review and progress, by the panel's stage. */
export function PanelFrame(props: FrameProps) {
	const { mergeOrder } = useOrders();
	const inputs = useInputs(props);
	const learn = (order: Order) => mergeOrder(order);
	const flow = usePanel(props.machine.kind, queryOf(props.machine, inputs), { account: inputs.account, chainId: inputs.from.chainId }, learn);
	useCompletion(flow, props.onTransactionComplete);
	useClearedAmount(flow);
	const { stage } = flow.state;
	switch (stage.at) {
		case "form":
		case "preparing":
			return <FormView {...props} inputs={inputs} flow={flow} />;
		case "review":
		case "approving":
		case "executing":
			return <ReviewView inputs={inputs} flow={flow} stage={stage} />;
		case "tracking":
			return <Tracking id={stage.order} flow={flow} onDone={flow.back} onActivity={() => go({ at: "activity" })} />;
	}
}

/** useInputs collects the form's content and the wallet state that belongs to it. */
function useInputs({ machine, destinations, walletTokensWithBalance, nativeTokenBalance, slippage, preselectedToken, onClearPreselection }: FrameProps): Inputs {
	const active = useStore(useNetworkData().active);
	const networks = useStore(useNetworkData().networks);
	const network = networks.find((n) => n.chainId === active);
	const now = useDraft({ active, crossChain: machine.crossChain, destinations, balances: walletTokensWithBalance, preselectedToken, onClearPreselection });
	const to = machine.crossChain && now.destination ? now.destination : active;
	const held = walletTokensWithBalance.find((b) => b.token === now.tokenIn?.address);
	const known = nativeTokenBalance !== undefined;
	return {
		draft: now,
		account: useStore(useConnection().account)?.address,
		from: { chainId: active, name: network?.name ?? "", ended: network?.ended },
		to: { chainId: to, name: networkName(to, networks, destinations), ended: networks.find((n) => n.chainId === to)?.ended },
		destinationReadable: networks.some((n) => n.chainId === to),
		slippage,
		provider: useStore(useNetworkData().providers).find((p) => p.kind === machine.kind),
		balance: known && now.tokenIn ? (held ? held.amount : "0") : undefined,
		coinBalance: nativeTokenBalance,
		coin: { symbol: network?.symbol ?? "", decimals: network?.decimals ?? 18 },
	};
}

/** useClearedAmount clears the amount when consent is sent, even if the window closes then, and
 * restores it if consent is refused. */
function useClearedAmount({ state: { stage } }: PanelFlow): void {
	const restore = useRef<(() => void) | undefined>(undefined);
	const { at } = stage;
	useEffect(() => {
		if (at === "executing") restore.current = clearAmount();
		else if (at !== "tracking") restore.current?.();
		if (at !== "executing") restore.current = undefined;
	}, [at]);
}

/** useCompletion notifies the container once when the tracked order has ended. */
function useCompletion(flow: PanelFlow, onTransactionComplete: () => void): void {
	const { stage } = flow.state;
	const id = stage.at === "tracking" ? stage.order : undefined;
	const ended = useStore(useOrders().orders, (orders) => orders.some((o) => o.id === id && o.ended));
	const told = useRef<string | undefined>(undefined);
	useEffect(() => {
		if (!ended || !id || told.current === id) return;
		told.current = id;
		onTransactionComplete();
	}, [ended, id]);
}
