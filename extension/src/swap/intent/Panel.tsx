import { useDestinations } from "../../state/destinations";
import { PanelFrame } from "../PanelFrame";
import type { PanelProps } from "../props";
import { intent } from "./machine";
import { useIntentTokens } from "./tokens";

/** IntentPanel offers several routes, paid by a deposit on the active network. */
export function IntentPanel(props: PanelProps) {
	const destinations = useDestinations("intent");
	const tokens = useIntentTokens(destinations);
	return <PanelFrame {...props} machine={intent} source="intent" destinations={destinations} extra={tokens} route />;
}
