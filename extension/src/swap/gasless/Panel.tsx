import { PanelFrame } from "../PanelFrame";
import type { PanelProps } from "../props";
import { gasless } from "./machine";

/** GaslessPanel swaps on one network by signed orders that the provider settles. */
export function GaslessPanel(props: PanelProps) {
	return <PanelFrame {...props} machine={gasless} source="known" />;
}
