import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../components/Announcer";
import { Button } from "../components/Button";
import { Countdown } from "../components/Countdown";
import { Loading } from "../components/Loading";
import { Refusal } from "../components/Refusal";
import { t } from "../i18n/t";
import type { Channel } from "../state/channel";
import { useOrders } from "../state/context";
import { requiredAcknowledgements } from "../swap/panel";
import { Findings } from "../swap/Findings";
import { useReviewed } from "../swap/reviewed";
import { ReviewFacts } from "../swap/ReviewFacts";
import { ReviewSteps } from "../swap/ReviewSteps";
import type { FindingCode, Order, Proposal } from "../wire/protocol";
import { CardView } from "./CardView";
import { causeWords } from "./cause-words";
import { CauseView } from "./CauseView";
import { type Change, changes } from "./changes";
import type { OrderFormatter } from "./line";
import { useAct } from "./useAct";
import { useConsentPassword } from "./useConsentPassword";
import type { Card } from "./condition-cards";

interface Props {
	order: Order;
	/** The condition that asks for consent. */
	card: Card;
	/** The countdown of the order. */
	left: ComponentChildren;
	channel: Channel;
	format: OrderFormatter;
	/** Formats amounts rounded down, for the minimum received. */
	glance: OrderFormatter;
}

/** ConsentForm asks for consent to terms that changed since the order was accepted: it
 * shows the comparison and the findings to acknowledge. A new proposal resets the form, so
 * that ticks given to an earlier one do not count. */
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
	/** It replaced a proposal that was already shown. */
	newer: boolean;
}

function ProposalForm({ order, card, left, proposal, channel, format, glance, newer }: ProposalProps) {
	const { mergeOrder } = useOrders();
	const { review } = proposal;
	const [agreed, agree] = useState(false);
	const [acknowledged, acknowledge] = useState<readonly FindingCode[]>([]);
	useEffect(() => announce(t("order_consent_new")), []);
	const accept = useAct(async (request, digest: string, codes: FindingCode[]) => {
		try {
			mergeOrder(await channel.call("swap.accept", { request, order: order.id, digest, acknowledge: codes, ...password.take() }));
		} finally {
			// Also after a refusal, load the proposal that is current now.
			await channel.call("swap.order", { order: order.id }).then((now) => mergeOrder(now.order)).catch(() => {});
		}
	});
	const password = useConsentPassword(accept.failure);
	const about = useReviewed(review);
	const ready = agreed && password.ready && !review.blocked && requiredAcknowledgements(review).every((code) => acknowledged.includes(code));
	return (
		<>
			<CardView
				card={card}
				lead={
					<>
						<Changes changes={changes(order, review, format, glance)} />
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
					{t("order_consent_reason")} <CauseView cause={causeWords({ cause: proposal.cause, words: proposal.reason }, order, format)} />
				</p>
				{left}
				<Countdown to={review.expires} label={t("order_consent_until")} past={t("order_consent_renewed")} />
				<ReviewFacts review={review} about={about} />
				<ReviewSteps review={review} />
			</CardView>
			{!review.blocked && (
				<div class="act">
					{password.shown && <Refusal failure={password.shown} amounts={{ coin: (wei) => format.coin(review.terms.srcChainId, wei) }} />}
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

// Findings that the comparison already shows.
const raised = new Set<string>(["minimum_lowered", "ceiling_raised", "fee_raised"]);

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
