import type { Allowance, AllowanceKind, Review, Step } from "../wire/protocol";
import { contractName } from "../components/address";
import { Button } from "../components/Button";
import { Modal } from "../components/Modal";
import { providerName } from "../i18n/provider-name";
import { t } from "../i18n/t";
import { formatTime } from "../i18n/time";
import { go } from "../shell/route";
import { useAnswer } from "../state/answer";
import { useConnection } from "../state/context";
import { useStepFormatter } from "./useStepFormatter";
import { useEnabledAfterDelay } from "./useEnabledAfterDelay";

interface Props {
	step: Step;
	review: Review;
	number: number;
	of: number;
	onApprove: () => void;
	onClose: () => void;
}

/** ApprovalModal asks before a spender gets access to a token, once for each allowance and
 * permit of a plan. It shows token, exact amount, spender and the present allowance. */
export function ApprovalModal({ step, review, number, of, onApprove, onClose }: Props) {
	const approval = step.effect.approves![0]!; // approvals() returns only steps that have one
	const format = useStepFormatter(review.steps);
	const permit = step.effect.kind === "permit";
	const reset = approval.amount === "0";
	const units = (of: string) => format.amount(step.effect.chainId, approval.token, of);
	const provider = providerName(review.terms.provider);
	const { isolated } = review.terms;
	const means = reset ? "approval_reset_means" : isolated ? "approval_isolated_means" : permit ? "approval_permit_means" : "approval_means";
	const present = usePresentAllowance(review, approval.token, approval.spender, permit ? "permit2" : "erc20");
	const enabled = useEnabledAfterDelay(number);
	return (
		<Modal title={of > 1 ? t("approval_n", number, of) : t("approval")} onClose={onClose} key={number}>
			<p>{t(means, provider)}</p>
			<dl class="facts">
				<dt>{t("approval_amount")}</dt>
				<dd>
					<strong class="number">{units(approval.amount)}</strong>
				</dd>
				{approval.otherOrders && (
					<>
						<dt>{t("approval_shares")}</dt>
						<dd class="number">{units(approval.otherOrders)}</dd>
					</>
				)}
				<dt class="wide">{t("approval_token")}</dt>
				<dd class="wide">
					<code>{approval.token}</code>
				</dd>
				<dt class="wide">{t("spender")}</dt>
				<dd class="wide">
					{contractName(approval.spender)} <code>{approval.spender}</code>
					<br />
					<span class="soft small">{t(isolated ? "not_built_in" : "built_in", provider)}</span>
				</dd>
				{!reset && (
					<>
						<dt>{t("approval_until")}</dt>
						<dd>{approval.until ? formatTime(approval.until, "whole") : t("approval_used_up")}</dd>
					</>
				)}
				<dt>{t("approval_now")}</dt>
				<dd class="number">{present === undefined ? "…" : present === null ? t("none") : present.unlimited ? t("unlimited") : units(present.amount)}</dd>
			</dl>
			<Button kind="main" disabled={!enabled} onClick={onApprove}>
				{t(reset ? "approval_reset" : permit ? "approval_sign" : "approval_approve")}
			</Button>
			<Button kind="plain" onClick={() => go({ at: "approvals" })}>
				{t("approval_others")}
			</Button>
		</Modal>
	);
}

/** How many pages of allowances are searched. */
const mostPages = 5;

/** usePresentAllowance returns the spender's present allowance of the same kind; null: none;
 * undefined: unknown. */
function usePresentAllowance(review: Review, token: string, spender: string, kind: AllowanceKind): Allowance | null | undefined {
	const { shell } = useConnection();
	const { account, isolated, srcChainId: chainId } = review.terms;
	const read = async (page: number, cursor?: string): Promise<Allowance | null | undefined> => {
		const list = await shell.call("approvals.list", { account, chainId, ...(cursor ? { cursor } : {}) });
		const found = list.allowances.find((a) => a.token === token && a.spender === spender && a.kind === kind);
		if (found || !list.cursor) return found ?? null;
		return page < mostPages ? read(page + 1, list.cursor) : undefined;
	};
	const none = async () => null; // a throwaway account has allowed nobody anything
	return useAnswer(`${isolated ?? account} ${chainId} ${token} ${spender} ${kind}`, () => (isolated ? none() : read(1))).answer; // if it fails, the present allowance stays unknown; the new amount does not depend on it
}
