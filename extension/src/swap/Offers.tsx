import type { Offer, ProviderKind, Token } from "../wire/protocol";
import { Failure } from "../wire/failure";
import { brandOf, kindName, providerName } from "../i18n/provider-name";
import { locale, t } from "../i18n/t";
import { formatCost, displayAmount } from "../money/amount";
import { approximateDuration } from "../money/duration";
import { percent } from "../money/percent";
import { refusalWords } from "../order/failure-words";
import { NATIVE } from "../state/network-data";
import type { Comparison, Line } from "./compare";
import type { Query } from "./quotes";
import { useComparison } from "./useComparison";

interface Props {
	query: Query | undefined;
	/** The best offer of this panel's provider. */
	own: Offer | undefined;
	/** This panel's provider has no offer. */
	failed: boolean;
	/** The panel's provider. */
	kind: ProviderKind;
	tokenOut: Token | undefined;
	onProvider: (kind: ProviderKind) => void;
}

/** Offers compares the offers of all providers by the amount left after gas. Clicking
 * another provider's offer opens its panel. */
export function Offers({ query, own, failed, kind, tokenOut, onProvider }: Props) {
	const found = useComparison(query, own, failed, kind);
	if (!found || !tokenOut || !query || (found.lines.length === 0 && found.failures.length === 0)) return null;
	return (
		<details class="card offers">
			<summary>{summary(found)}</summary>
			<ul class="stack tight">
				{found.lines.map((line) => (
					<li key={line.kind}>
						<OfferLine line={line} net={found.net} tokenOut={tokenOut} onProvider={onProvider} />
					</li>
				))}
			</ul>
			{!found.net && found.lines.length > 0 && <p class="soft small">{t("offers_no_net")}</p>}
			{found.failures.length > 0 && <Failures failures={found.failures} />}
		</details>
	);
}

/** about formats hundredths of a percent with one decimal, or two for small values. */
function about(hundredths: number): string {
	return percent(hundredths / 100, { maximumFractionDigits: Math.abs(hundredths) < 10 ? 2 : 1 });
}

function summary({ lines, better }: Comparison): string {
	const others = lines.filter((l) => !l.own).length;
	if (others === 0) return t("offers_none_other");
	const count = others === 1 ? t("offers_one") : t("offers_count", others);
	if (better === undefined) return count;
	if (better === 0) return `${count}, ${t("offers_same")}`;
	return `${count}, ${better > 0 ? t("offers_better", about(better)) : t("offers_worse", about(-better))}`;
}

function OfferLine({ line, net, tokenOut, onProvider }: { line: Line; net: boolean; tokenOut: Token; onProvider: (kind: ProviderKind) => void }) {
	const { offer, own, kind, behind } = line;
	const amount = (units: string) => displayAmount(units, tokenOut.decimals, 6, locale());
	return (
		<button type="button" class="offer-line" aria-current={own} aria-disabled={own} onClick={() => own || onProvider(kind)}>
			<span class="grow">
				<span class="row tight">
					<span class="strong">{kindName(kind)}</span>
					{behind !== undefined && <span class={`tag ${behind === 0 ? "good" : ""}`}>{behind === 0 ? t("offers_best") : `−${about(behind)}`}</span>}
					{own && <span class="tag">{t("offers_shown")}</span>}
				</span>
				<span class="soft small dots">{facts(kind, offer).map((f) => <span key={f}>{f}</span>)}</span>
			</span>
			<span class="right number">
				<span>
					{amount(offer.amountOut)} {tokenOut.symbol}
				</span>
				<span class="soft small">{net && offer.netAmountOut !== undefined ? t("offers_net", amount(offer.netAmountOut)) : t("offers_net_unknown")}</span>
			</span>
		</button>
	);
}

/** facts returns what else distinguishes an offer: why it cannot be used, or the brand, gas,
 * time and approval. */
function facts(kind: ProviderKind, offer: Offer): string[] {
	if (offer.unusable) return [offer.unusable];
	const brand = brandOf(kind);
	const gas = offer.gasless ? t("offers_gasless") : offer.usd?.gasCost !== undefined ? t("offers_gas", formatCost(offer.usd.gasCost, locale())) : t("offers_gas_unknown");
	return [...(brand ? [brand] : []), gas, approximateDuration(offer.durationSeconds), ...(offer.tokenIn !== NATIVE || offer.wrap ? [t("offers_approval")] : [])];
}

/** failureWords says why there is no offer; for a missing API key, also what to do. */
function failureWords(error: Comparison["failures"][number]["error"]): string {
	const failure = new Failure(error);
	const { title, do: remedy } = refusalWords(failure);
	return failure.name === "provider_key" ? `${title}. ${remedy}` : title;
}

function Failures({ failures }: Pick<Comparison, "failures">) {
	return (
		<details class="offers-failed small">
			<summary>{failures.length === 1 ? t("offers_failed_one") : t("offers_failed", failures.length)}</summary>
			<dl class="facts">
				{failures.map(({ kind, error }) => (
					<>
						<dt>{providerName(kind)}</dt>
						<dd>{failureWords(error)}</dd>
					</>
				))}
			</dl>
		</details>
	);
}
