import type { MessageKey } from "../i18n/keys";
import { t } from "../i18n/t";
import type { Said, Told } from "./cause-words";

const whose: Record<Said["by"], MessageKey> = { wallet: "order_said_wallet", provider: "order_said_provider", node: "order_said_node" };

/** SaidView quotes a text that Swapkeep's messages do not contain, with its author. */
export function SaidView({ said }: { said: Said }) {
	return (
		<span class="small soft">
			{t(whose[said.by])} <q>{said.words}</q>
		</span>
	);
}

/** CauseView shows, inline, the reason for an order's state. */
export function CauseView({ told: { text, said } }: { told: Told }) {
	return (
		<>
			{text} {said && <SaidView said={said} />}
		</>
	);
}
