import type { Offer } from "../wire/protocol";
import { locale, t } from "../i18n/t";
import { formatCost, displayAmount } from "../money/amount";

interface Props {
	offer: Offer;
	/** Of the source network's native coin. */
	symbol: string;
	decimals: number;
	/** The gas cost in US dollars; undefined: no current price. */
	usd?: string | undefined;
}

/** GasEstimate shows the expected gas cost of an offer and who pays it. It shows nothing
 * while the cost is unknown. */
export function GasEstimate({ offer, symbol, decimals, usd }: Props) {
	const { gasCost = "0", gasless = false } = offer;
	if (gasCost === "0") return gasless ? <span>{t("gas_none")}</span> : null;
	return (
		<span class="dots">
			<span class="number">
				{displayAmount(gasCost, decimals, 6, locale())} {symbol} <span class="soft">({usd === undefined ? t("gas_price_unavailable") : formatCost(usd, locale())})</span>
			</span>
			<span class="soft">{t(gasless ? "gas_then_none" : "gas_you_pay")}</span>
		</span>
	);
}
