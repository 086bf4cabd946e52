import type { ComponentChildren } from "preact";
import type { OfferUSD, Review, Token } from "../wire/protocol";
import { shortRoute } from "../components/address";
import { locale, t } from "../i18n/t";
import { minutes } from "../money/duration";
import { dollars, exactAmount, rate, shownAmount } from "../money/amount";
import { impact } from "../money/impact";
import { approvals } from "./panel";
import type { Inputs, Machine } from "./machine";

interface Props {
	review: Review;
	inputs: Inputs;
	machine: Machine;
}

const percent = (bps: number) => `${new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }).format(bps / 100)} %`;

/** ReviewFacts are the terms in their fixed order: what is paid, what arrives at least,
 * what it costs and whom, and what is unusual about it. Amounts are exact. */
export function ReviewFacts({ review, inputs, machine }: Props) {
	const { tokenIn, tokenOut } = inputs.draft;
	if (!tokenIn || !tokenOut) return null;
	return (
		<section class="card stack" aria-label={t("terms")}>
			<Amounts review={review} inputs={inputs} tokenIn={tokenIn} tokenOut={tokenOut} />
			<dl class="facts small">
				{rows(review, inputs, machine, tokenIn, tokenOut).map(([name, value]) => (
					<>
						<dt>{name}</dt>
						<dd>{value}</dd>
					</>
				))}
			</dl>
		</section>
	);
}

function Amounts({ review, inputs, tokenIn, tokenOut }: { review: Review; inputs: Inputs; tokenIn: Token; tokenOut: Token }) {
	const { offer, terms } = review;
	const sides = [
		{ label: t("you_pay"), amount: exactAmount(terms.amountIn, tokenIn.decimals), symbol: tokenIn.symbol, on: inputs.from.name, usd: offer.usd?.amountIn },
		{ label: t("you_receive_least"), amount: exactAmount(terms.floorOut, tokenOut.decimals), symbol: tokenOut.symbol, on: inputs.to.name, usd: offer.usd?.minAmountOut },
	];
	return (
		<dl class="sides">
			{sides.map((s) => (
				<div key={s.label} class="side">
					<dt class="soft small">{s.label}</dt>
					<dd>
						<strong class="amount number">
							{s.amount} {s.symbol}
						</strong>
						<span class="soft small">
							{t("on_network", s.on)} · {s.usd ? dollars(s.usd, locale()) : t("price_unavailable")}
						</span>
					</dd>
				</div>
			))}
		</dl>
	);
}

/** The rows below the amounts, in the order that people find them in elsewhere. */
function rows(review: Review, inputs: Inputs, machine: Machine, tokenIn: Token, tokenOut: Token): [string, ComponentChildren][] {
	const { offer, terms, gas } = review;
	const out: [string, ComponentChildren][] = [
		[t("row_expected"), `${shownAmount(offer.amountOut, tokenOut.decimals, 6, locale())} ${tokenOut.symbol}`],
		[t("row_rate"), t("rate_is", tokenIn.symbol, rate(offer.amountIn, tokenIn.decimals, offer.amountOut, tokenOut.decimals, locale()), tokenOut.symbol)],
		[t("row_provider"), `${t(`provider_${machine.kind}`)} · ${machine.routes ? offer.routing : shortRoute(offer.route)}`],
		[t("row_network_cost"), networkCost(review, inputs)],
	];
	if (terms.makerFeeBps) out.push([t("row_provider_fee"), t("at_most", percent(terms.makerFeeBps))]);
	out.push([t("row_wallet_fee"), terms.feeBps ? percent(terms.feeBps) : t("none")]);
	out.push([t("row_slippage"), `${new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }).format(offer.slippage)} %`]);
	out.push([t("row_impact"), ownImpact(offer.usd)]);
	out.push([t("row_time"), minutes(offer.durationSeconds)]);
	if (terms.recipient !== terms.account) out.push([t("row_recipient"), <code key="recipient">{terms.recipient}</code>]);
	if (terms.refundTo !== terms.account) out.push([t("row_refund"), <code key="refund">{terms.refundTo}</code>]);
	out.push([t("row_approval"), approvals(review).length > 0 ? t("approval_exact") : t("none")]);
	if (gas.max !== "0") out.push([t("row_most_gas"), `${shownAmount(gas.max, inputs.coin.decimals, 6, locale())} ${inputs.coin.symbol}`]);
	return out;
}

const ownImpact = (usd: OfferUSD | undefined) => {
	const change = impact(usd);
	return change ? t("impact_own", change) : t("price_unavailable");
};

function networkCost({ gas }: Review, { coin }: Inputs): string {
	if (gas.max === "0") return t("cost_none");
	const worth = gas.usd?.expected ? dollars(gas.usd.expected, locale()) : t("price_unavailable");
	return `${shownAmount(gas.expected, coin.decimals, 6, locale())} ${coin.symbol} · ${worth}`;
}
