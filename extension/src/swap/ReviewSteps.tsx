import type { Effect, EffectKind, Review, Step } from "../wire/protocol";
import { known, locale, t } from "../i18n/t";
import { when } from "../i18n/when";
import type { Teller } from "../order/line";
import { useStepTeller } from "./useStepTeller";

/** What calls or binds one of the provider's contracts, which the daemon knows. An
 * approval calls the token's own, whoever made that. */
const builtIn = new Set<EffectKind>(["swap", "order", "deposit"]);

/** ReviewSteps are what would be signed, one after the other, as read from the bytes;
 * the contracts and the bytes themselves are folded away. */
export function ReviewSteps({ review }: { review: Review }) {
	const tell = useStepTeller(review.steps);
	const provider = known(`provider_${review.terms.provider}`) ?? review.terms.provider;
	return (
		<details class="card steps">
			<summary>{t("steps", review.steps.length)}</summary>
			<ol class="stack">
				{review.steps.map((step, i) => (
					<li key={i} class="stack tight">
						<p>
							<strong>{t(`step_${step.effect.kind}`)}</strong> <span class="soft small">{t(`kind_${step.kind}`)}</span>
						</p>
						<dl class="facts small">
							<dt>{t("contract")}</dt>
							<dd>
								<code>{step.effect.target}</code> {builtIn.has(step.effect.kind) && <span class="soft">{t("built_in", provider)}</span>}
							</dd>
							{details(step.effect, tell).map(([name, value]) => (
								<>
									<dt>{name}</dt>
									<dd>
										<code>{value}</code>
									</dd>
								</>
							))}
						</dl>
						<Bytes step={step} />
					</li>
				))}
			</ol>
		</details>
	);
}

function details(effect: Effect, tell: Teller): [string, string][] {
	const amount = ({ token }: { token: string }, units: string) => tell.amount(effect.chainId, token, units);
	const out: [string, string][] = [];
	for (const s of effect.spends ?? []) out.push([t("you_pay"), amount(s, s.amount)]);
	for (const a of effect.approves ?? []) out.push([t("spender"), `${a.spender} · ${amount(a, a.amount)}`]);
	for (const r of effect.receives ?? []) out.push([t("row_recipient"), `${r.to} · ${t("order_at_least", amount(r, r.min))}`]);
	for (const p of effect.pays ?? []) out.push([t("fee_to"), `${p.to} · ${percent(p.bps)}`]);
	if (effect.trustedTo) out.push([t("trusted_to"), effect.trustedTo]);
	if (effect.deadline) out.push([t("row_deadline"), when(effect.deadline, "whole")]);
	return out;
}

const percent = (bps: number) => `${new Intl.NumberFormat(locale(), { maximumFractionDigits: 2 }).format(bps / 100)} %`;

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
