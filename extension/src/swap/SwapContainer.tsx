import { useEffect, useState } from "preact/hooks";
import type { ProviderKind } from "../wire/protocol";
import { writeStored, readStored } from "../state/browser-storage";
import { useConnection } from "../state/context";
import { useStore } from "../state/store";
import { BridgePanel } from "./bridge/Panel";
import { DexPanel } from "./dex/Panel";
import { GaslessPanel } from "./gasless/Panel";
import { IntentPanel } from "./intent/Panel";
import type { PanelProps, SwapContainerProps } from "./props";
import { ProviderSelector, providers } from "./ProviderSelector";
import { SlippageControl } from "./SlippageControl";

/** Percent, until the setting was loaded. */
const initialSlippage = 0.5;

/** useSlippage returns the slippage of all panels: the setting, until the user picks
 * another value for this window. */
function useSlippage(): [number, (percent: number) => void] {
	const set = useStore(useConnection().settings, (settings) => settings.find((s) => s.key === "swap.slippage")?.value);
	const [picked, pick] = useState<number | undefined>(undefined);
	return [picked ?? Number(set ?? initialSlippage), pick];
}

/** SwapContainer selects a provider and a slippage, and shows that provider's panel. It
 * knows nothing about quotes, execution or status. */
export function SwapContainer(props: SwapContainerProps) {
	const [provider, setProvider] = useState<ProviderKind>("dex");
	const [slippage, setSlippage] = useSlippage();
	useEffect(() => void readStored("provider").then((before) => providers.some((p) => p.kind === before) && setProvider(before as ProviderKind)), []);
	const choose = (kind: ProviderKind) => {
		writeStored("provider", kind);
		setProvider(kind);
	};
	const panel: PanelProps = { ...props, slippage, onProvider: choose };
	return (
		<div class="stack swap">
			<div class="row apart choices">
				<ProviderSelector value={provider} onChange={choose} />
				<SlippageControl value={slippage} onChange={setSlippage} />
			</div>
			{provider === "dex" && <DexPanel {...panel} />}
			{provider === "bridge" && <BridgePanel {...panel} />}
			{provider === "intent" && <IntentPanel {...panel} />}
			{provider === "gasless" && <GaslessPanel {...panel} />}
		</div>
	);
}
