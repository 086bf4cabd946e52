import { locale, t } from "../../i18n/t";
import { rawAmount, fullAmount } from "../../money/token-amount";
import type { Allowance } from "../../wire/protocol";

/** amountOf formats an amount of an allowance's token. */
export function amountOf({ symbol, decimals, token }: Allowance, units: string): string {
	if (symbol === undefined || decimals === undefined) return rawAmount(units, token, (digits, of) => t("order_base_units", digits, of), locale());
	return fullAmount(units, { symbol, decimals }, locale());
}
