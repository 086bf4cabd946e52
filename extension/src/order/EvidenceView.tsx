import type { MessageKey } from "../i18n/keys";
import { TxLink } from "../components/TxLink";
import { numbers } from "../i18n/formats";
import { locale, t } from "../i18n/t";
import type { Absence, Attempt, AttemptKind, Evidence, Order } from "../wire/protocol";
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
						<dd>{sources(verdict.sources, order.reason)}</dd>
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
				{order.ref && (
					<>
						<dt>{t("order_evidence_ref")}</dt>
						<dd>
							<code>{order.ref}</code>
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

/** sources translates the daemon's text about its sources, as far as it is known. The part
 * that repeats the order's reason is left out, since the card shows it. */
function sources(text: string, reason: string | undefined): string {
	return text.split("; ").filter((part) => part !== reason).map(source).join("; ");
}

function source(text: string): string {
	const agree = /^(\d+) sources agree$/.exec(text);
	if (agree) return t("order_sources_agree", agree[1] ?? "");
	const key = lookUp(sourceWords, text);
	return key ? t(key) : text;
}

const sourceWords: Readonly<Record<string, MessageKey>> = {
	"one source": "order_source_one",
	"nothing was signed": "order_sources_unsigned",
	"nothing that spends was signed": "order_sources_unspent",
	"the input is held as the wrapped coin": "order_sources_wrapped",
	"its nonce was used elsewhere": "order_sources_nonce",
	"never sent": "order_sources_never",
};
