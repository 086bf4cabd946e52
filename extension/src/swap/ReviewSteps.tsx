import type { Effect, Review, Step } from "../wire/protocol";
import { t } from "../i18n/t";
import type { Inputs, Machine } from "./machine";

interface Props {
	review: Review;
	inputs: Inputs;
	machine: Machine;
}

/** ReviewSteps are what would be signed, one after the other, as read from the bytes;
 * the contracts and the bytes themselves are folded away. */
export function ReviewSteps({ review, machine }: Props) {
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
								<code>{step.effect.target}</code> {step.effect.kind !== "opaque" && <span class="soft">{t("built_in", t(`provider_${machine.kind}`))}</span>}
							</dd>
							{details(step.effect).map(([name, value]) => (
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

function details(effect: Effect): [string, string][] {
	const out: [string, string][] = [];
	for (const a of effect.approves ?? []) out.push([t("spender"), a.spender]);
	for (const r of effect.receives ?? []) out.push([t("row_recipient"), r.to]);
	for (const p of effect.pays ?? []) out.push([t("fee_to"), p.to]);
	if (effect.trustedTo) out.push([t("trusted_to"), effect.trustedTo]);
	if (effect.deadline) out.push([t("row_deadline"), effect.deadline]);
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
