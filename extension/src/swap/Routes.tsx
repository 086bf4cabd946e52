import { useState } from "preact/hooks";
import type { Offer, Token } from "../wire/protocol";
import { locale, t } from "../i18n/t";
import { Button } from "../components/Button";
import { approximateDuration } from "../money/duration";
import { displayAmount } from "../money/amount";
import { RouteText } from "../components/RouteText";
import { expired } from "./quotes";
import { routingName } from "./routing-name";

interface Props {
	offers: readonly Offer[];
	chosen: string | undefined;
	token: Token | undefined;
	onChoose: (offer: string) => void;
}

/** How many are shown at first. */
const first = 5;

/** Routes lists the offers of one provider for a swap, best first, to choose from. */
export function Routes({ offers, chosen, token, onChoose }: Props) {
	const [all, showAll] = useState(false);
	if (offers.length < 2 || !token) return null;
	const now = Date.now();
	const shown = all || offers.findIndex((o) => o.id === chosen) >= first ? offers : offers.slice(0, first);
	return (
		<fieldset class="card routes stack tight">
			<legend class="soft small">{t("routes", offers.length)}</legend>
			{shown.map((o) => (
				<label key={o.id} class="route">
					<input type="radio" name="route" checked={o.id === chosen} disabled={!!o.unusable || expired(o, now)} onChange={() => onChoose(o.id)} />
					<span class="grow">
						<span class="cut">{routingName(o)}</span>
						<span class="soft small">
							{o.unusable ?? (expired(o, now) ? t("expired") : approximateDuration(o.durationSeconds))}
							{o.route && (
								<>
									{" · "}
									<RouteText route={o.route} />
								</>
							)}
						</span>
					</span>
					<span class="number">{displayAmount(o.amountOut, token.decimals, 6, locale())}</span>
				</label>
			))}
			{shown.length < offers.length && (
				<Button kind="plain" onClick={() => showAll(true)}>
					{t("routes_more", offers.length - shown.length)}
				</Button>
			)}
		</fieldset>
	);
}
