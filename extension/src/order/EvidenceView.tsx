import type { MessageKey } from "../i18n/keys";
import { TxLink } from "../components/TxLink";
import { numbers } from "../i18n/formats";
import { locale, t } from "../i18n/t";
import type { Absence, Attempt, AttemptKind, Evidence, Order, VerdictReceipt, VerdictSource } from "../wire/protocol";
import { happened } from "./ends";
import { lineText, type OrderFormatter } from "./line";
import { lookUp } from "./status";

/** EvidenceView shows how the end of an order was proven, for those who want to check. */
export function EvidenceView({ order, format }: { order: Order; format: OrderFormatter }) {
	const { verdict, attempts = [] } = order;
	if (!verdict && attempts.length === 0) return null;
	return (
		<details class="card evidence">
			<summary>{t("order_evidence")}</summary>
			<dl class="facts small">
				{verdict && (
					<>
						<dt>{t("order_evidence_how")}</dt>
						<dd>{lineText(happened(order, format))}</dd>
						<dt>{t("order_evidence_sources")}</dt>
						<dd>{worded(sourceWords, verdict.sources)}</dd>
						{verdict.receipt && (
							<>
								<dt>{t("order_evidence_receipts")}</dt>
								<dd>{worded(receiptWords, verdict.receipt)}</dd>
							</>
						)}
					</>
				)}
				{verdict?.deposit && <Mined evidence={verdict.deposit} name="order_evidence_deposit" format={format} />}
				{verdict?.evidence && <Mined evidence={verdict.evidence} name="order_evidence_tx" format={format} />}
				{verdict?.absence && <Searched absence={verdict.absence} format={format} />}
				{attempts.map((a) => (
					<Signed key={a.tx} attempt={a} chainId={order.terms.srcChainId} />
				))}
				<dt>{t("order_evidence_id")}</dt>
				<dd>
					<code>{order.id}</code>
				</dd>
				{order.providerOrderId && (
					<>
						<dt>{t("order_evidence_ref")}</dt>
						<dd>
							<code>{order.providerOrderId}</code>
						</dd>
					</>
				)}
			</dl>
		</details>
	);
}

const attemptWords: Record<AttemptKind, MessageKey> = { call: "order_attempt_call", bump: "order_attempt_bump", cancel: "order_attempt_cancel" };

function Signed({ attempt, chainId }: { attempt: Attempt; chainId: number }) {
	return (
		<>
			<dt>{t(lookUp(attemptWords, attempt.kind) ?? "order_attempt_call")}</dt>
			<dd>
				<TxLink chainId={chainId} tx={attempt.tx} />
			</dd>
		</>
	);
}

function Mined({ evidence, name, format }: { evidence: Evidence; name: MessageKey; format: OrderFormatter }) {
	return (
		<>
			<dt>{t(name)}</dt>
			<dd>
				<TxLink chainId={evidence.chainId} tx={evidence.tx} />
				<br />
				{t("order_evidence_block", number(evidence.block), format.network(evidence.chainId), evidence.depth)}
				<br />
				{t("order_evidence_gas", format.coin(evidence.chainId, evidence.feePaid))}
				<br />
				{t("order_evidence_hosts", evidence.hosts.join(", "))}
			</dd>
		</>
	);
}

function Searched({ absence, format }: { absence: Absence; format: OrderFormatter }) {
	return (
		<>
			<dt>{t("order_evidence_searched")}</dt>
			<dd>
				{t("order_evidence_blocks", number(absence.from), number(absence.through), format.network(absence.chainId))}
				<br />
				{t("order_evidence_hosts", absence.hosts.join(", "))}
			</dd>
		</>
	);
}

const number = (n: number) => numbers(locale()).format(n);

const sourceWords: Record<VerdictSource, MessageKey> = {
	one_host: "source_one_host",
	two_hosts: "source_two_hosts",
	nothing_signed: "source_nothing_signed",
	no_spend_signed: "source_no_spend_signed",
	wrapped_only: "source_wrapped_only",
	isolated_only: "source_isolated_only",
	nonce_used: "source_nonce_used",
	never_sent: "source_never_sent",
};

const receiptWords: Record<VerdictReceipt, MessageKey> = {
	recomputed: "receipt_recomputed",
	not_recomputable: "receipt_not_recomputable",
	not_recomputed: "receipt_not_recomputed",
};

/** worded returns the words of a code; a newer daemon's code as it is. */
function worded(words: Record<string, MessageKey>, code: string): string {
	const key = lookUp(words, code);
	return key ? t(key) : code;
}
