import { useDestinations } from "../../state/destinations";
import { BridgeTime } from "../../components/BridgeTime";
import { PanelFrame } from "../PanelFrame";
import type { PanelProps } from "../props";
import { bridge } from "./machine";

/** BridgePanel swaps from the active network to any that the bridge reaches. */
export function BridgePanel(props: PanelProps) {
	const destinations = useDestinations("bridge");
	return (
		<PanelFrame
			{...props}
			machine={bridge}
			source="bridge"
			destinations={destinations}
			route
			about={(offer) => <BridgeTime seconds={offer.durationSeconds} />}
		/>
	);
}
