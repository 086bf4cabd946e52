import { t } from "../../i18n/t";
import type { Allowance } from "../../wire/protocol";

/** Spender shows who may spend, by name if known and always by address. */
export function Spender({ allowance: { name, spender } }: { allowance: Allowance }) {
	return (
		<>
			<dt>{t("approvals_spender")}</dt>
			<dd>{name ?? <span class="tone warn">{t("approvals_stranger")}</span>}</dd>
			<dd class="wide">
				<code>{spender}</code>
			</dd>
		</>
	);
}
