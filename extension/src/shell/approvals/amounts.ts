import { locale, t } from "../../i18n/t";
import { raw, spelled } from "../../money/spelled";
import type { Allowance } from "../../wire/protocol";

/** amountOf formats an amount of an allowance's token. */
export function amountOf({ symbol, decimals, token }: Allowance, units: string): string {
	if (symbol === undefined || decimals === undefined) return raw(units, token, (digits, of) => t("order_base_units", digits, of), locale());
	return spelled(units, { symbol, decimals }, locale());
}
