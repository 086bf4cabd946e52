import { PanelFrame } from "../PanelFrame";
import type { PanelProps } from "../props";
import { dex } from "./machine";

/** DexPanel swaps on one network, by pools or auctions. */
export function DexPanel(props: PanelProps) {
	return <PanelFrame {...props} machine={dex} source="known" />;
}
