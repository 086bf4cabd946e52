import type { ComponentChildren } from "preact";
import type { Effect, EffectKind, Review, Step, Terms } from "../wire/protocol";
import { contractName } from "../components/address";
import { providerName } from "../i18n/provider-name";
import { t } from "../i18n/t";
import { formatTime } from "../i18n/time";
import { bpsAsPercent } from "../money/percent";
import { fundLine } from "../order/isolated";
import { lineText, type OrderFormatter } from "../order/line";
import { useStepFormatter } from "./useStepFormatter";

/** Steps that call or bind one of the provider's contracts. An approval calls the token's. */
const callsProvider = new Set<EffectKind>(["swap", "order", "deposit", "opaque"]);

/** ReviewSteps lists what will be signed, decoded from the bytes. The contracts and bytes
 * are collapsed. */
export function ReviewSteps({ review }: { review: Review }) {
	const format = useStepFormatter(review.steps);
	const { terms } = review;
	// The daemon has all contracts of a provider built in but those that a throwaway account calls.
	const contractOf = t(terms.isolated ? "not_built_in" : "built_in", providerName(terms.provider));
	return (
		<details class="card steps">
			<summary>{t("steps", review.steps.length)}</summary>
			<ol class="stack">
				{review.steps.map((step, i) => (
					<li key={i} class="stack tight">
						<p>
							<strong>{t(`step_${step.effect.kind}`)}</strong> <span class="soft small">
								{t(`kind_${step.kind}`)}
								{terms.isolated && step.effect.kind !== "fund" && ` · ${t("by_isolated")}`}
							</span>
						</p>
						<dl class="facts small">
							{step.effect.target !== terms.isolated && (
								<At name={t("contract")} address={step.effect.target}>
									{callsProvider.has(step.effect.kind) && contractOf}
								</At>
							)}
							{details(step.effect, terms, format).map(({ name, address, value }) =>
								address ? (
									<At name={name} address={address}>
										{value}
									</At>
								) : (
									<>
										<dt>{name}</dt>
										<dd>{value}</dd>
									</>
								),
							)}
						</dl>
						<Bytes step={step} />
					</li>
				))}
			</ol>
		</details>
	);
}

/** At is a row for an address, on its own line. */
function At({ name, address, children }: { name: string; address: string; children: ComponentChildren }) {
	return (
		<>
			<dt class="wide">{name}</dt>
			<dd class="wide">
				<code>{address}</code>
				{children && <span class="soft note-line">{children}</span>}
			</dd>
		</>
	);
}

interface Detail {
	name: string;
	value: string;
	/** The address that the value belongs to. */
	address?: string;
}

function details(effect: Effect, terms: Terms, format: OrderFormatter): Detail[] {
	if (effect.kind === "fund") return [{ name: t("row_isolated"), address: terms.isolated ?? "", value: lineText(fundLine(effect, terms, format)) }];
	const amount = ({ token }: { token: string }, units: string) => format.amount(effect.chainId, token, units);
	const out: Detail[] = [];
	for (const s of effect.spends ?? []) out.push({ name: t("you_pay"), value: amount(s, s.amount) });
	for (const a of effect.approves ?? []) out.push({ name: t("spender"), address: a.spender, value: [contractName(a.spender), amount(a, a.amount)].filter(Boolean).join(" · ") });
	for (const r of effect.receives ?? []) out.push({ name: t("row_recipient"), address: r.to, value: t("order_at_least", amount(r, r.min)) });
	for (const p of effect.pays ?? []) out.push({ name: t("fee_to"), address: p.to, value: bpsAsPercent(p.bps) });
	if (effect.trustedTo) out.push({ name: t("trusted_to"), value: format.trusted(effect.trustedTo) });
	if (effect.deadline) out.push({ name: t("row_deadline"), value: formatTime(effect.deadline, "whole") });
	return out;
}

function Bytes({ step }: { step: Step }) {
	const text = step.data ?? (step.typed ? JSON.stringify(step.typed, null, 1) : undefined);
	if (!text) return null;
	return (
		<details>
			<summary class="soft small">{t("bytes")}</summary>
			<pre class="bytes mono" tabIndex={0}>
				{text}
			</pre>
		</details>
	);
}
