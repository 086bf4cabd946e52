import type { ComponentChildren } from "preact";
import { t } from "../i18n/t";
import { useNetworkData } from "../state/context";
import { useStore } from "../state/store";
import { shortAddress } from "./address";

interface Props {
	chainId: number;
	tx: string;
	/** What the transaction did; shown before its short hash. */
	children?: ComponentChildren;
}

/** TxLink links to a transaction in its network's block explorer; if there is none, it
 * shows the full hash. */
export function TxLink({ chainId, tx, children }: Props) {
	const explorer = useStore(useNetworkData().networks).find((n) => n.chainId === chainId)?.explorer;
	if (!explorer || !/^https?:\/\//.test(explorer)) {
		return (
			<span class="tx">
				{children && <>{children} </>}
				<code>{tx}</code>
			</span>
		);
	}
	return (
		<a class="tx" href={`${explorer.replace(/\/$/, "")}/tx/${tx}`} target="_blank" rel="noreferrer noopener">
			{children && <>{children} </>}
			<span class="mono">{shortAddress(tx)}</span>
			<span aria-hidden="true"> ↗</span>
			<span class="hidden"> {t("order_new_tab")}</span>
		</a>
	);
}
