import type { Offer, Token } from "../wire/protocol";
import { locale, t } from "../i18n/t";
import { minutes } from "../money/duration";
import { shownAmount } from "../money/amount";
import { expired } from "./quotes";

interface Props {
	offers: readonly Offer[];
	chosen: string | undefined;
	token: Token | undefined;
	onChoose: (offer: string) => void;
}

/** Routes are one provider's own offers for a swap, best first; the user picks one by the
 * provider's name for it. */
export function Routes({ offers, chosen, token, onChoose }: Props) {
	if (offers.length < 2 || !token) return null;
	const now = Date.now();
	return (
		<fieldset class="card routes stack tight">
			<legend class="soft small">{t("routes", offers.length)}</legend>
			{offers.map((o) => (
				<label key={o.id} class="route">
					<input type="radio" name="route" checked={o.id === chosen} disabled={!!o.unusable || expired(o, now)} onChange={() => onChoose(o.id)} />
					<span class="grow">
						<span class="cut">{o.routing}</span>
						<span class="soft small">{[o.unusable ?? (expired(o, now) ? t("expired") : minutes(o.durationSeconds)), o.route].filter(Boolean).join(" · ")}</span>
					</span>
					<span class="number">{shownAmount(o.amountOut, token.decimals, 6, locale())}</span>
				</label>
			))}
		</fieldset>
	);
}
