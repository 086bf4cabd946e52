import type { ComponentChildren } from "preact";
import type { OfferUSD, Review } from "../wire/protocol";
import { shortAddress } from "../components/address";
import { RouteText } from "../components/RouteText";
import { providerName } from "../i18n/provider-name";
import { locale, t } from "../i18n/t";
import { isToday, formatTime } from "../i18n/time";
import { approximateDuration } from "../money/duration";
import { formatCost, formatUSD, exchangeRate } from "../money/amount";
import { priceImpact } from "../money/price-impact";
import { bpsAsPercent, percent } from "../money/percent";
import { shortAmount, fullAmount, type Unit } from "../money/token-amount";
import { approvals } from "./panel";
import type { Reviewed } from "./reviewed";
import { routingName } from "./routing-name";

interface Props {
	review: Review;
	about: Reviewed;
}

/** ReviewFacts lists the terms in a fixed order: amount paid, minimum received, costs and
 * who gets them, and what is unusual. Amounts are exact. */
export function ReviewFacts({ review, about }: Props) {
	return (
		<section class="card stack" aria-label={t("terms")}>
			<Amounts review={review} about={about} />
			<dl class="facts small">
				{rows(review, about).map(([name, value]) => (
					<>
						<dt>{name}</dt>
						<dd>{value}</dd>
					</>
				))}
			</dl>
		</section>
	);
}

function Amounts({ review, about }: Pick<Props, "review" | "about">) {
	const { offer, terms } = review;
	const sides = [
		{ label: t("you_pay"), units: terms.amountIn, of: about.tokenIn, on: about.from.name, usd: offer.usd?.amountIn },
		{ label: t("you_receive_least"), units: terms.minOut, of: about.tokenOut, on: about.to.name, usd: offer.usd?.minAmountOut },
	];
	return (
		<dl class="sides">
			{sides.map((s) => (
				<div key={s.label} class="side">
					<dt class="soft small">{s.label}</dt>
					<dd>
						<Figure units={s.units} of={s.of} />
						<span class="soft small">
							{t("on_network", s.on)} · {s.usd ? formatUSD(s.usd, locale()) : t("price_unavailable")}
						</span>
					</dd>
				</div>
			))}
		</dl>
	);
}

/** Amounts of up to this length, including the symbol, fit in large type. */
const maxFullLength = 20;

/** Figure shows an amount rounded down in large type and, if that cuts digits off, exactly
 * below. It never rounds up, so at least the large amount arrives. */
function Figure({ units, of }: { units: string; of: Unit }) {
	const whole = fullAmount(units, of, locale());
	const glance = whole.length <= maxFullLength ? whole : shortAmount(units, of, locale());
	return (
		<>
			<strong class="amount number">{glance}</strong>
			{glance !== whole && <span class="small number">{t("amount_exactly", whole)}</span>}
		</>
	);
}

/** Providers with several routes per swap; theirs are identified by name. */
const routed: ReadonlySet<string> = new Set(["intent"]);

/** rows returns the rows below the amounts, in the order usual in other wallets. */
export function rows(review: Review, { tokenIn, tokenOut, coin }: Reviewed): [string, ComponentChildren][] {
	const { offer, terms, gas, statedMinimum: told } = review;
	const out: [string, ComponentChildren][] = [
		[t("row_expected"), shortAmount(offer.amountOut, tokenOut, locale())],
		...(told === undefined ? [] : [[t("row_stated_minimum"), t("stated_minimum", fullAmount(told, tokenOut, locale()))] as [string, string]]),
		[t("row_rate"), t("rate_is", tokenIn.symbol, exchangeRate(offer.amountIn, tokenIn.decimals, offer.amountOut, tokenOut.decimals, locale()), tokenOut.symbol)],
		[t("row_provider"), providerName(terms.provider)],
		[t("row_route"), routed.has(terms.provider) || !offer.route ? routingName(offer) : <RouteText key="route" route={offer.route} />],
		[t("row_network_cost"), networkCost(review, coin)],
	];
	if (terms.isolated) out.push([t("row_isolated"), <code key="isolated">{terms.isolated}</code>]);
	if (terms.makerFeeBps) out.push([t("row_provider_fee"), t("at_most", bpsAsPercent(terms.makerFeeBps))]);
	out.push([t("row_wallet_fee"), walletFee(review)]);
	out.push([t("row_slippage"), percent(offer.slippage)]);
	out.push([t("row_impact"), ownImpact(offer.usd)]);
	out.push([t("row_time"), approximateDuration(offer.durationSeconds)]);
	if (terms.recipient !== terms.account) out.push([t("row_recipient"), <code key="recipient">{terms.recipient}</code>]);
	if (terms.refundTo !== terms.account) out.push([t("row_refund"), <code key="refund">{terms.refundTo}</code>]);
	if (terms.refund) out.push([t("row_refund_least"), refundText(review, tokenIn, coin)]);
	out.push([t("row_deadline"), formatTime(terms.deadline, isToday(terms.deadline) ? "clock" : "whole")]);
	out.push([t("row_approval"), approvals(review).length > 0 ? t("approval_exact") : t("none")]);
	if (gas.max !== "0") {
		out.push([t("row_most_gas"), shortAmount(gas.max, coin, locale())]);
		out.push([t("row_gas_ceiling"), fullAmount(terms.gasCeiling, coin, locale())]);
	}
	return out;
}

/** refundText returns the least refund: in the input's token, in the wrapped coin that a
 * native input becomes, or in base units of a token that the review does not describe. */
function refundText({ terms }: Review, tokenIn: Unit, coin: Unit): string {
	const { token, amount } = terms.refund!;
	if (token === terms.tokenIn) return fullAmount(amount, tokenIn, locale());
	if (token === terms.wrap) return fullAmount(amount, { ...coin, symbol: `W${coin.symbol}` }, locale());
	return `${amount} ${t("base_units_of", shortAddress(token))}`;
}

/** walletFee marks a fee that is not in the signed data as the provider's claim, or as
 * requested only. */
function walletFee({ terms, offer, feeBasis }: Review): string {
	switch (feeBasis) {
		case "none": return t("none");
		case "requested": return t("fee_requested", bpsAsPercent(offer.feeRequested ?? 0));
		case "reported": return t("fee_reported", bpsAsPercent(terms.feeBps));
		case "decoded": return bpsAsPercent(terms.feeBps);
	}
}

const ownImpact = (usd: OfferUSD | undefined) => {
	const change = priceImpact(usd);
	return change ? t("impact_own", change) : t("price_unavailable");
};

function networkCost({ gas }: Review, coin: Reviewed["coin"]): string {
	if (gas.max === "0") return t("cost_none");
	const worth = gas.usd?.expected ? formatCost(gas.usd.expected, locale()) : t("price_unavailable");
	return `${shortAmount(gas.expected, coin, locale())} · ${worth}`;
}
