import { useEffect, useState } from "preact/hooks";
import type { Allowance, Review, Step, Token } from "../wire/protocol";
import { Button } from "../components/Button";
import { Modal } from "../components/Modal";
import { locale, t } from "../i18n/t";
import { exactAmount, shownAmount } from "../money/amount";
import { go } from "../shell/route";
import { useWallet } from "../state/context";
import type { Inputs, Machine } from "./machine";

interface Props {
	step: Step;
	review: Review;
	machine: Machine;
	inputs: Inputs;
	number: number;
	of: number;
	onApprove: () => void;
	onClose: () => void;
}

/** ApprovalModal asks before somebody may pull a token, once for each allowance and
 * permit of a plan: which token, how much to the unit, who, and what they may now. */
export function ApprovalModal({ step, review, machine, inputs, number, of, onApprove, onClose }: Props) {
	const approval = step.effect.approves![0]!; // approvals() lists steps that have one
	const token = inputs.draft.tokenIn?.address === approval.token ? inputs.draft.tokenIn : undefined;
	const present = usePresent(review, approval.token, approval.spender);
	const armed = useArmed(number);
	const opaque = review.steps.some((s) => s.effect.kind === "opaque" && s.effect.target === approval.spender);
	return (
		<Modal title={of > 1 ? t("approval_n", number, of) : t("approval")} onClose={onClose} key={number}>
			<p>{t(step.effect.kind === "permit" ? "approval_permit_means" : "approval_means", t(`provider_${machine.kind}`))}</p>
			<dl class="facts">
				<dt>{t("approval_amount")}</dt>
				<dd>
					<strong class="number">{exact(approval.amount, token)}</strong>
				</dd>
				{approval.shares && (
					<>
						<dt>{t("approval_shares")}</dt>
						<dd class="number">{exact(approval.shares, token)}</dd>
					</>
				)}
				<dt>{t("approval_token")}</dt>
				<dd>
					<code>{approval.token}</code>
				</dd>
				<dt>{t("spender")}</dt>
				<dd>
					<code>{approval.spender}</code>
					<br />
					<span class="soft small">{opaque ? t("not_built_in") : t("built_in", t(`provider_${machine.kind}`))}</span>
				</dd>
				<dt>{t("approval_until")}</dt>
				<dd>{approval.until ? new Date(approval.until).toLocaleString(locale()) : t("approval_used_up")}</dd>
				<dt>{t("approval_now")}</dt>
				<dd class="number">{present === undefined ? "…" : present === null ? t("none") : present.unlimited ? t("unlimited") : shown(present.amount, token)}</dd>
			</dl>
			<Button kind="main" disabled={!armed} onClick={onApprove}>
				{t(step.effect.kind === "permit" ? "approval_sign" : "approval_approve")}
			</Button>
			<Button kind="plain" onClick={() => go({ at: "approvals" })}>
				{t("approval_others")}
			</Button>
		</Modal>
	);
}

/** useArmed is a moment after a modal has opened: the second press of a double click on
 * the one before would else approve what nobody has read. */
function useArmed(of: number): boolean {
	const [armed, arm] = useState(0);
	useEffect(() => {
		const timer = setTimeout(() => arm(of), 400);
		return () => clearTimeout(timer);
	}, [of]);
	return armed === of;
}

const exact = (units: string, token: Token | undefined) => (token ? `${exactAmount(units, token.decimals)} ${token.symbol}` : t("base_units", units));
const shown = (units: string, token: Token | undefined) => (token ? `${shownAmount(units, token.decimals, 6, locale())} ${token.symbol}` : t("base_units", units));

/** usePresent is what the spender may pull already; null: nothing. */
function usePresent(review: Review, token: string, spender: string): Allowance | null | undefined {
	const { shell } = useWallet();
	const [present, set] = useState<Allowance | null | undefined>(undefined);
	useEffect(() => {
		shell
			.call("approvals.list", { account: review.terms.account })
			.then(({ allowances }) => set(allowances.find((a) => a.chainId === review.terms.srcChainId && a.token === token && a.spender === spender) ?? null))
			.catch(() => {}); // it stays open what they may now; what they may then does not
	}, [token, spender]);
	return present;
}
