import type { MessageKey } from "../i18n/keys";
import { t } from "../i18n/t";
import type { QuotedText, CauseText } from "./cause-words";

const quotedFrom: Record<QuotedText["by"], MessageKey> = { wallet: "order_said_wallet", provider: "order_said_provider", node: "order_said_node" };

/** SaidView quotes a text that Swapkeep's messages do not contain, with its author. */
export function SaidView({ said }: { said: QuotedText }) {
	return (
		<span class="small soft">
			{t(quotedFrom[said.by])} <q>{said.words}</q>
		</span>
	);
}

/** CauseView shows, inline, the reason for an order's state. */
export function CauseView({ cause: { text, said } }: { cause: CauseText }) {
	return (
		<>
			{text} {said && <SaidView said={said} />}
		</>
	);
}
