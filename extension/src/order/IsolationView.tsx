import { TxLink } from "../components/TxLink";
import { t } from "../i18n/t";
import type { Order } from "../wire/protocol";
import type { OrderFormatter } from "./line";

/** IsolationView shows the throwaway account of an order, what came back from it and what stays. */
export function IsolationView({ order: { terms, isolation }, format }: { order: Order; format: OrderFormatter }) {
	if (!terms.isolated) return null;
	const amount = (s: { token: string; amount: string }) => format.amount(terms.srcChainId, s.token, s.amount);
	return (
		<section class="card stack tight small" aria-label={t("order_isolated")}>
			<p>
				<strong>{t("order_isolated")}</strong> <span class="soft">{t("order_isolated_what")}</span>
			</p>
			<code>{terms.isolated}</code>
			{!isolation && <p>{t("order_isolated_waits")}</p>}
			{isolation?.returned?.map((r) => (
				<p key={r.tx}>
					{t("order_isolated_returned", amount(r))}{" "}
					<TxLink chainId={terms.srcChainId} tx={r.tx}>
						{t("order_link_returned")}
					</TxLink>
				</p>
			))}
			{isolation?.left?.map((s) => (
				<p key={s.token}>{t("order_isolated_left", amount(s))}</p>
			))}
		</section>
	);
}
