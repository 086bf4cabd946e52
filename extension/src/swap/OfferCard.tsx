import type { ComponentChildren } from "preact";
import type { Offer, ProviderKind } from "../wire/protocol";
import { ExpiryRing } from "../components/ExpiryRing";
import { GasEstimate } from "../components/GasEstimate";
import { RouteText } from "../components/RouteText";
import { RouteView } from "../components/RouteView";
import { brandOf } from "../i18n/provider-name";
import { locale, t } from "../i18n/t";
import { exchangeRate, displayAmount } from "../money/amount";
import type { Inputs } from "./machine";
import type { Quotes } from "./quotes";

interface Props {
	offer: Offer;
	inputs: Inputs;
	quotes: Quotes;
	provider: ProviderKind;
	route: boolean;
	children?: ComponentChildren;
}

/** OfferCard shows the chosen offer: rate, minimum received and costs. While a newer offer
 * is loaded it stays in place, dimmed. */
export function OfferCard({ offer, inputs, quotes, provider, route, children }: Props) {
	const { tokenIn, tokenOut } = inputs.draft;
	if (!tokenIn || !tokenOut) return null;
	const price = exchangeRate(offer.amountIn, tokenIn.decimals, offer.amountOut, tokenOut.decimals, locale());
	const place = { from: inputs.from.name, to: inputs.to.name, symbolIn: tokenIn.symbol, symbolOut: tokenOut.symbol };
	return (
		<section class={`card offer ${quotes.at === "shown" ? "" : "dim"}`} aria-label={t("offer")}>
			<div class="row apart">
				<span class="number">{t("rate_is", tokenIn.symbol, price, tokenOut.symbol)}</span>
				{quotes.at === "expired" ? <span class="soft">{t("expired")}</span> : <ExpiryRing since={quotes.since} expires={offer.expires} label={t("quote_expires")} />}
			</div>
			{route && <RouteView offer={offer} {...place} provider={brandOf(provider) ?? provider} />}
			<dl class="facts small">
				<dt>{t("row_least")}</dt>
				<dd class="number">
					{displayAmount(offer.minAmountOut, tokenOut.decimals, 6, locale())} {tokenOut.symbol}
				</dd>
				{!route && offer.route && (
					<>
						<dt>{t("row_route")}</dt>
						<dd>
							<RouteText route={offer.route} />
						</dd>
					</>
				)}
				{(offer.gasCost || offer.gasless) && (
					<>
						<dt>{t("row_network_cost")}</dt>
						<dd>
							<GasEstimate offer={offer} symbol={inputs.coin.symbol} decimals={inputs.coin.decimals} usd={offer.usd?.gasCost} />
						</dd>
					</>
				)}
			</dl>
			{children}
		</section>
	);
}
