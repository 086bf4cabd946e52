import { useEffect, useState } from "preact/hooks";
import { Button } from "../components/Button";
import { Screen } from "../components/Screen";
import { locale, t } from "../i18n/t";
import { fullAmount, type Unit } from "../money/token-amount";
import { useConsentPassword } from "../order/useConsentPassword";
import { ApprovalModal } from "./ApprovalModal";
import { confirmation } from "./confirmation";
import { Findings } from "./Findings";
import type { Inputs } from "./machine";
import { approvals, type Stage } from "./panel";
import { useReviewed } from "./reviewed";
import { Refused } from "./Refused";
import { ReviewFacts } from "./ReviewFacts";
import { ReviewLines } from "./ReviewLines";
import { ReviewSteps } from "./ReviewSteps";
import { useEnabledAfterDelay } from "./useEnabledAfterDelay";
import type { PanelFlow } from "./usePanel";

interface Props {
	inputs: Inputs;
	flow: PanelFlow;
	stage: Extract<Stage, { review: unknown }>;
}

/** ReviewView shows the complete plan as the daemon decoded and checked it, and takes consent. It
 * shows exactly what will be signed; when the quote expires a new plan replaces it, with a note. */
export function ReviewView({ inputs, flow, stage }: Props) {
	const { review, acknowledged } = stage;
	const about = useReviewed(review, inputs);
	const gone = useExpired(review.expires);
	// It replaces the "Review swap" button, so a double click must not consent.
	const enabled = useEnabledAfterDelay(review.digest);
	const shown = confirmation(review, acknowledged, gone, stage.at === "executing");
	const password = useConsentPassword(flow.state.failure, review.passwordFor);
	const approval = stage.at === "approving" ? approvals(review)[stage.approval] : undefined;
	return (
		<Screen title={t("review")} onBack={stage.at === "executing" ? undefined : flow.back}>
			<Findings findings={review.findings} acknowledged={acknowledged} coin={about.coin} token={about.tokenOut} onAcknowledge={flow.acknowledge} />
			{stage.at === "review" && <Renewed stage={stage} out={about.tokenOut} />}
			{!about.destinationReadable && <p class="note warn">{t("destination_unseen", about.to.name)}</p>}
			<ReviewFacts review={review} about={about} />
			<ReviewSteps review={review} />
			<ReviewLines lines={review.lines} />
			{password.shown && <Refused failure={password.shown} />}
			<div class="act">
				{!review.blocked && !gone && stage.at !== "executing" && password.field}
				<Button
					kind={shown.level === "critical" ? "main critical" : "main"}
					disabled={!shown.act || !enabled || (shown.act === "confirm" && !password.ready)}
					busy={stage.at === "executing"}
					onClick={() => (shown.act === "requote" ? flow.back() : flow.confirm(password.take().password))}
				>
					{t(shown.key, ...(shown.values ?? []))}
				</Button>
			</div>
			{approval && (
				<ApprovalModal step={approval} review={review} number={stage.at === "approving" ? stage.approval + 1 : 1} of={approvals(review).length} onApprove={flow.approve} onClose={flow.close} />
			)}
		</Screen>
	);
}

/** useExpired reports whether the plan has expired at the daemon. */
function useExpired(expires: string): boolean {
	const [gone, set] = useState(Date.parse(expires) <= Date.now());
	useEffect(() => {
		const left = Date.parse(expires) - Date.now();
		set(left <= 0);
		const timer = setTimeout(() => set(true), Math.max(0, left));
		return () => clearTimeout(timer);
	}, [expires]);
	return gone;
}

/** Renewed says that the plan is from a newer quote, and how much lower the minimum
 * received is than in the first plan shown. */
function Renewed({ stage: { review, renewed, first }, out }: { stage: Extract<Stage, { at: "review" }>; out: Unit }) {
	if (!renewed) return null;
	const less = first !== undefined && BigInt(review.terms.minOut) < BigInt(first);
	const text = less ? t("review_renewed_less", fullAmount(review.terms.minOut, out, locale()), fullAmount(first, out, locale())) : t("review_renewed");
	return <p class={less ? "note warn" : "note"}>{text}</p>;
}
