import { PanelFrame } from "../PanelFrame";
import type { PanelProps } from "../SwapContainer";
import { gasless } from "./machine";

/** GaslessPanel: same-chain swaps by signed orders that the provider settles. */
export function GaslessPanel(props: PanelProps) {
	return <PanelFrame {...props} machine={gasless} source="known" />;
}
