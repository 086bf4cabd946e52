import { Mark } from "../components/Mark";
import { t } from "../i18n/t";
import { say } from "../order/line";
import { standing } from "../order/standing";
import { go } from "../shell/route";
import { useWallet } from "../state/context";
import { useStore } from "../state/store";

/** OpenOrders stands above the form while an order of the account has not ended: who
 * comes back after a crash sees that the swap was accepted, before swapping again. */
export function OpenOrders() {
	const wallet = useWallet();
	const account = useStore(wallet.account)?.address;
	const open = useStore(wallet.orders).filter((o) => !o.final && o.terms.account === account);
	const [newest] = open;
	if (!newest) return null;
	const at = standing(newest);
	return (
		<button type="button" class="note under-way row" onClick={() => go(open.length === 1 ? { at: "order", id: newest.id } : { at: "activity" })}>
			<Mark of={at.picture} tone={at.tone} />
			<span class="grow">
				<strong>{open.length === 1 ? t("under_way_one") : t("under_way", open.length)}</strong> {open.length === 1 && <span class="small">{say(at.words)}</span>}
			</span>
			<span aria-hidden="true">›</span>
		</button>
	);
}
