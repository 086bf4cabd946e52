import { Button } from "../../components/Button";
import { Modal } from "../../components/Modal";
import { Refusal } from "../../components/Refusal";
import { locale, t } from "../../i18n/t";
import { shortAmount } from "../../money/token-amount";
import { useAct } from "../../order/useAct";
import { useConsentPassword } from "../../order/useConsentPassword";
import { useConnection, useNetworkData, useOrders } from "../../state/context";
import { useStore } from "../../state/store";
import { words } from "../../swap/Findings";
import type { Allowance } from "../../wire/protocol";
import { go } from "../route";
import { amountOf } from "./amounts";
import { Spender } from "./Spender";

interface Props {
	allowance: Allowance;
	onClose: () => void;
	/** The allowance shown is outdated and must be read again. */
	onStale: () => void;
}

/** RevokeModal says what revoking an allowance does and costs, and runs it. */
export function RevokeModal({ allowance: a, onClose, onStale }: Props) {
	const { shell } = useConnection();
	const { mergeOrder } = useOrders();
	const network = useStore(useNetworkData().networks).find((n) => n.chainId === a.chainId);
	const unit = network ?? { symbol: "", decimals: 18 };
	const coin = (wei: string) => shortAmount(wei, unit, locale());
	const act = useAct(async (request, digest: string) => {
		const order = await shell.call("approvals.revoke", { request, digest, ...password.take() });
		mergeOrder(order);
		onClose();
		go({ at: "order", id: order.id });
	});
	const password = useConsentPassword(act.failure);
	// The order that needs the allowance, or that is already revoking it.
	const user = act.failure?.is("allowance_in_use") ? act.failure.details["order"] : undefined;
	const findings = a.findings ?? [];
	const blocked = findings.some((f) => f.severity === "block");
	const stale = act.failure?.is("plan_unknown", "plan_executed") ?? false;
	return (
		<Modal title={t("revoke_title", a.symbol ?? t("approvals_unknown_token"))} onClose={onClose}>
			<p>{t("revoke_text")}</p>
			<dl class="facts">
				<Spender allowance={a} />
				<dt>{t("revoke_amount")}</dt>
				<dd>{a.unlimited ? t("approvals_unlimited") : amountOf(a, a.amount)}</dd>
				{a.gas && (
					<>
						<dt>{t("revoke_gas")}</dt>
						<dd>{t("revoke_gas_most", coin(a.gas.expected), coin(a.gas.max))}</dd>
					</>
				)}
			</dl>
			{findings.map((f) => (
				<p key={f.code} class={`note ${f.severity === "block" ? "critical" : "warn"}`}>
					{words(f, unit, undefined)}
				</p>
			))}
			{password.shown && <Refusal failure={password.shown} amounts={{ coin }} />}
			{!user && !stale && password.field}
			{user && (
				<Button kind="main" onClick={() => go({ at: "order", id: user })}>
					{t("revoke_used_by")}
				</Button>
			)}
			{stale && (
				<Button kind="main" onClick={onStale}>
					{t("revoke_again")}
				</Button>
			)}
			{!user && !stale && (
				<Button kind="main critical" disabled={blocked || !a.digest || !password.ready} busy={act.busy} onClick={() => void act.run(a.digest ?? "")}>
					{t(blocked ? "revoke_blocked" : "revoke_yes")}
				</Button>
			)}
		</Modal>
	);
}
