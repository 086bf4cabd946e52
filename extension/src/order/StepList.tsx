import { Mark, type MarkKind } from "../components/Mark";
import { TxLink } from "../components/TxLink";
import { t } from "../i18n/t";
import { lineText } from "./line";
import { type StepLine, type StepMark, stepMarks } from "./steps";

const pictures: Record<StepMark, { of: MarkKind; tone: string }> = {
	preview: { of: "none", tone: "neutral" }, active: { of: "busy", tone: "busy" }, waiting: { of: "wait", tone: "warn" }, done: { of: "done", tone: "good" },
	skipped: { of: "skipped", tone: "neutral" }, failed: { of: "failed", tone: "critical" }, dropped: { of: "over", tone: "neutral" },
};

/** StepList lists an order's steps, of which at most one is in progress. */
export function StepList({ steps }: { steps: readonly StepLine[] }) {
	return (
		<ol class="steps-list" aria-label={t("order_steps")}>
			{steps.map((s, i) => (
				<li key={i} class={`step-${s.mark}`} aria-current={s.mark === "active" || s.mark === "waiting" ? "step" : undefined}>
					<Mark {...pictures[s.mark]} />
					<div>
						<p>
							{lineText(s.title)} <span class="soft small step-mark">· {t(stepMarks[s.mark])}</span>
						</p>
						{s.note && <p class="soft small">{lineText(s.note)}</p>}
						{s.link && (
							<p class="small">
								<TxLink {...s.link}>{t("order_link_tx")}</TxLink>
							</p>
						)}
					</div>
				</li>
			))}
		</ol>
	);
}
