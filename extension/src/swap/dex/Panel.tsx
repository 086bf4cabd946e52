import { PanelFrame } from "../PanelFrame";
import type { PanelProps } from "../SwapContainer";
import { dex } from "./machine";

/** DexPanel: same-chain swaps by classic routes and auctions. */
export function DexPanel(props: PanelProps) {
	return <PanelFrame {...props} machine={dex} source="known" />;
}
