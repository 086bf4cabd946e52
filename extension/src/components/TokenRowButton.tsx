import { locale, t } from "../i18n/t";
import { formatUSD } from "../money/amount";
import { compactAmount } from "../money/compact-amount";
import { shortAddress } from "./address";
import { Avatar } from "./Avatar";
import { doubtOf, type TokenRow } from "./token-rows";

interface Props {
	row: TokenRow;
	selected: boolean;
	onPick: (row: TokenRow) => void;
}

/** TokenRowButton is one token of a list: its name, whether it is verified, and the balance. */
export function TokenRowButton({ row, selected, onPick }: Props) {
	const { token, amount, usd } = row;
	const doubt = row.displayOnly ? "unverified" : doubtOf(token);
	return (
		<button type="button" data-row class="picker-row" aria-current={selected} onClick={() => onPick(row)}>
			<Avatar of={token.address} letter={token.symbol} mark={token.mark} size={32} />
			<span class="grow">
				<span class="row tight">
					<span class="strong cut">{token.symbol}</span>
					{token.verified && <Verified />}
					{doubt && <span class={`tag ${doubt === "imitates" ? "critical" : "warn"}`}>⚠ {t(`picker_tag_${doubt}`)}</span>}
				</span>
				<span class="soft small cut">
					{token.name}
					{doubt && <span class="mono"> {shortAddress(token.address)}</span>}
				</span>
			</span>
			{amount !== undefined && (
				<span class="right number">
					<span>{compactAmount(amount, token.decimals, locale())}</span>
					<span class="soft small">{usd === undefined ? t("picker_no_price") : formatUSD(usd, locale())}</span>
				</span>
			)}
		</button>
	);
}

function Verified() {
	return (
		<svg class="verified" width="14" height="14" viewBox="0 0 14 14" role="img" aria-label={t("picker_verified")}>
			<title>{t("picker_verified")}</title>
			<circle cx="7" cy="7" r="7" />
			<path d="M3.8 7.2l2.2 2.2 4.2-4.6" />
		</svg>
	);
}
