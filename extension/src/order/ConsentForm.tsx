import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../components/Announcer";
import { Button } from "../components/Button";
import { Countdown } from "../components/Countdown";
import { Loading } from "../components/Loading";
import { Refusal } from "../components/Refusal";
import { t } from "../i18n/t";
import type { Channel } from "../state/channel";
import { useWallet } from "../state/context";
import { demanded } from "../swap/panel";
import { Findings } from "../swap/Findings";
import { useReviewed } from "../swap/reviewed";
import { ReviewFacts } from "../swap/ReviewFacts";
import { ReviewSteps } from "../swap/ReviewSteps";
import type { FindingCode, Order, Proposal } from "../wire/protocol";
import { CardView } from "./CardView";
import { causeWords } from "./cause-words";
import { CauseView } from "./CauseView";
import { type Change, changes } from "./changes";
import type { Teller } from "./line";
import { useAct } from "./useAct";
import { useConsentPassword } from "./useConsentPassword";
import type { Card } from "./waits";

interface Props {
	order: Order;
	/** What is said of it. */
	card: Card;
	/** How long the order waits. */
	left: ComponentChildren;
	channel: Channel;
	tell: Teller;
	/** Writes floors, cut off. */
	glance: Teller;
}

/** ConsentForm asks for consent to what has changed since the order was accepted: the
 * comparison and what has to be acknowledged first, and consent within reach of them.
 * Each proposal is asked for anew: what was ticked for another one does not count. */
export function ConsentForm(props: Props) {
	const { order, card, left } = props;
	const { proposal } = order;
	const first = useRef<string | undefined>(undefined);
	if (!proposal) {
		return (
			<CardView card={card}>
				{left}
				<p class="row">
					<Loading /> {t("order_consent_pending")}
				</p>
			</CardView>
		);
	}
	const { digest } = proposal.review;
	first.current ??= digest;
	return <ProposalForm key={digest} {...props} proposal={proposal} newer={first.current !== digest} />;
}

interface ProposalProps extends Props {
	proposal: Proposal;
	/** It took the place of one that was shown before. */
	newer: boolean;
}

function ProposalForm({ order, card, left, proposal, channel, tell, glance, newer }: ProposalProps) {
	const wallet = useWallet();
	const { review } = proposal;
	const [agreed, agree] = useState(false);
	const [acknowledged, acknowledge] = useState<readonly FindingCode[]>([]);
	useEffect(() => announce(t("order_consent_new")), []);
	const accept = useAct(async (request, digest: string, codes: FindingCode[]) => {
		try {
			wallet.learn(await channel.call("swap.accept", { request, order: order.id, digest, acknowledge: codes, ...password.take() }));
		} finally {
			// Whatever was refused, what is proposed now is shown.
			await channel.call("swap.order", { order: order.id }).then((now) => wallet.learn(now.order)).catch(() => {});
		}
	});
	const password = useConsentPassword(accept.failure);
	const about = useReviewed(review);
	const ready = agreed && password.ready && !review.blocked && demanded(review).every((code) => acknowledged.includes(code));
	return (
		<>
			<CardView
				card={card}
				lead={
					<>
						<Changes changes={changes(order, review, tell, glance)} />
						{review.blocked && <p class="note critical">{t("order_consent_blocked")}</p>}
						<Findings
							findings={review.findings.filter((f) => !raised.has(f.code))}
							acknowledged={acknowledged}
							coin={about.coin}
							token={about.tokenOut}
							onAcknowledge={(code, on) => acknowledge((codes) => [...codes.filter((c) => c !== code), ...(on ? [code] : [])])}
						/>
					</>
				}
			>
				{newer && <p class="note warn">{t("order_consent_newer")}</p>}
				<p class="small">
					{t("order_consent_reason")} <CauseView told={causeWords({ cause: proposal.cause, words: proposal.reason }, order, tell)} />
				</p>
				{left}
				<Countdown to={review.expires} label={t("order_consent_until")} past={t("order_consent_renewed")} />
				<ReviewFacts review={review} about={about} />
				<ReviewSteps review={review} />
			</CardView>
			{!review.blocked && (
				<div class="act">
					{password.shown && <Refusal failure={password.shown} amounts={{ coin: (wei) => tell.coin(review.terms.srcChainId, wei) }} />}
					<label class="choice small">
						<input type="checkbox" checked={agreed} onChange={(e) => agree(e.currentTarget.checked)} />
						<span>{t("order_consent_agree")}</span>
					</label>
					{password.field}
					<Button kind="main" disabled={!ready} busy={accept.busy} onClick={() => void accept.run(review.digest, [...acknowledged])}>
						{t("order_consent_accept")}
					</Button>
				</div>
			)}
		</>
	);
}

// They stand in the comparison.
const raised = new Set<string>(["floor_lowered", "ceiling_raised", "fee_raised"]);

function Changes({ changes }: { changes: readonly Change[] }) {
	return (
		<table class="compare pairs">
			<caption class="hidden">{t("order_compare")}</caption>
			<thead>
				<tr>
					<th scope="col">{t("order_accepted_terms")}</th>
					<th scope="col">{t("order_proposed_terms")}</th>
				</tr>
			</thead>
			{changes.map((c) => (
				<tbody key={c.label} class={c.changed ? "changed" : ""}>
					<tr>
						<th scope="rowgroup" colSpan={2}>
							{t(c.label)} {c.changed && t("order_changed")}
						</th>
					</tr>
					<tr>
						<td class="number">{c.accepted}</td>
						<td class="number">{c.proposed}</td>
					</tr>
				</tbody>
			))}
		</table>
	);
}
