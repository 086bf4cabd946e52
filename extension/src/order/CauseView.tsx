import type { MessageKey } from "../i18n/keys";
import { t } from "../i18n/t";
import type { Said, Told } from "./cause-words";

const whose: Record<Said["by"], MessageKey> = { wallet: "order_said_wallet", provider: "order_said_provider", node: "order_said_node" };

/** SaidView quotes words that are not ours, and says whose they are. */
export function SaidView({ said }: { said: Said }) {
	return (
		<span class="small soft">
			{t(whose[said.by])} <q>{said.words}</q>
		</span>
	);
}

/** CauseView says why an order stands as it does, within a line. */
export function CauseView({ told: { text, said } }: { told: Told }) {
	return (
		<>
			{text} {said && <SaidView said={said} />}
		</>
	);
}
