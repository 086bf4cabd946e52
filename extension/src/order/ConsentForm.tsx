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
import { changes } from "./changes";
import type { Teller } from "./line";
import { useAct } from "./useAct";

interface Props {
	order: Order;
	channel: Channel;
	tell: Teller;
}

/** ConsentForm asks for consent to what has changed since the order was accepted. Each
 * proposal is asked for anew: what was ticked for another one does not count. */
export function ConsentForm({ order, channel, tell }: Props) {
	const { proposal } = order;
	const first = useRef<string | undefined>(undefined);
	if (!proposal) {
		return (
			<p class="row">
				<Loading /> {t("order_consent_pending")}
			</p>
		);
	}
	const { digest } = proposal.review;
	first.current ??= digest;
	return <ProposalForm key={digest} order={order} proposal={proposal} channel={channel} tell={tell} newer={first.current !== digest} />;
}

interface ProposalProps extends Props {
	proposal: Proposal;
	/** It took the place of one that was shown before. */
	newer: boolean;
}

function ProposalForm({ order, proposal, channel, tell, newer }: ProposalProps) {
	const wallet = useWallet();
	const { review } = proposal;
	const [agreed, agree] = useState(false);
	const [acknowledged, acknowledge] = useState<readonly FindingCode[]>([]);
	useEffect(() => announce(t("order_consent_new")), []);
	const accept = useAct(async (request, digest: string, codes: FindingCode[]) => {
		try {
			wallet.learn(await channel.call("swap.accept", { request, order: order.id, digest, acknowledge: codes }));
		} finally {
			// Whatever was refused, what is proposed now is shown.
			await channel.call("swap.order", { order: order.id }).then((now) => wallet.learn(now.order)).catch(() => {});
		}
	});
	const about = useReviewed(review);
	const ready = agreed && !review.blocked && demanded(review).every((code) => acknowledged.includes(code));
	return (
		<div class="stack">
			<p>
				{t("order_consent_reason")} <q>{proposal.reason}</q>
			</p>
			{newer && <p class="note warn">{t("order_consent_newer")}</p>}
			<Changes order={order} proposal={proposal} tell={tell} />
			<Findings
				findings={review.findings.filter((f) => !raised.has(f.code))}
				acknowledged={acknowledged}
				coin={about.coin}
				token={about.tokenOut}
				onAcknowledge={(code, on) => acknowledge((codes) => [...codes.filter((c) => c !== code), ...(on ? [code] : [])])}
			/>
			<ReviewFacts review={review} about={about} />
			<ReviewSteps review={review} />
			{accept.failure && <Refusal failure={accept.failure} amounts={{ coin: (wei) => tell.coin(review.terms.srcChainId, wei) }} />}
			{review.blocked ? (
				<p class="note critical">{t("order_consent_blocked")}</p>
			) : (
				<>
					<label class="choice">
						<input type="checkbox" checked={agreed} onChange={(e) => agree(e.currentTarget.checked)} />
						<span>{t("order_consent_agree")}</span>
					</label>
					<Button kind="main" disabled={!ready} busy={accept.busy} onClick={() => void accept.run(review.digest, [...acknowledged])}>
						{t("order_consent_accept")}
					</Button>
				</>
			)}
			<Countdown to={review.expires} label={t("order_consent_until")} past={t("order_consent_renewed")} />
		</div>
	);
}

// They stand in the comparison.
const raised = new Set<string>(["floor_lowered", "ceiling_raised", "fee_raised"]);

function Changes({ order, proposal, tell }: { order: Order; proposal: Proposal; tell: Teller }) {
	return (
		<table class="compare">
			<caption class="hidden">{t("order_compare")}</caption>
			<thead>
				<tr>
					<td />
					<th scope="col">{t("order_accepted_terms")}</th>
					<th scope="col">{t("order_proposed_terms")}</th>
				</tr>
			</thead>
			<tbody>
				{changes(order, proposal.review, tell).map((c) => (
					<tr key={c.label} class={c.changed ? "changed" : ""}>
						<th scope="row">{t(c.label)}</th>
						<td class="number">{c.accepted}</td>
						<td class="number">
							{c.proposed}
							{c.changed && <span class="small"> {t("order_changed")}</span>}
						</td>
					</tr>
				))}
			</tbody>
		</table>
	);
}
