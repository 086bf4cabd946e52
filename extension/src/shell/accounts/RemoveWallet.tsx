import { useState } from "preact/hooks";
import { t } from "../../i18n/t";
import { useConnection } from "../../state/context";
import { failureOf } from "../../wire/failure";
import type { Wallet } from "../../wire/protocol";
import { announce } from "../../components/Announcer";
import { Button } from "../../components/Button";
import { Switch } from "../../components/Switch";
import { ActModal } from "../ActModal";
import { go } from "../route";

/** RemoveWallet removes a wallet for good, with the password. An open order with a damaged
 * record prevents that until the user allows it: it may belong to this wallet, and never ends. */
export function RemoveWallet({ wallet, onClose }: { wallet: Wallet; onClose: () => void }) {
	const { shell } = useConnection();
	const [damaged, allow] = useState(false);
	async function remove(password: string, request: string) {
		try {
			await shell.call("keys.remove", { request, wallet: wallet.id, password, ...(damaged && { damaged }) });
			announce(t("remove_done", wallet.name));
		} catch (thrown) {
			// The wallet is removed; only its encrypted keychain item remains until the
			// next unlock.
			if (!failureOf(thrown).is("keychain_leftover")) throw thrown;
			announce(t("remove_leftover", wallet.name));
		}
	}
	return (
		<ActModal
			title={t("accounts_remove_of", wallet.name)} act={t("remove_wallet")} critical asksPassword onAct={remove} onClose={onClose}
			remedy={(failure) => {
				const lost = failure.is("record_damaged");
				const id = (lost || failure.is("open_orders")) && failure.details["order"];
				return (
					<>
						{id && <Button onClick={() => go({ at: "order", id })}>{t("remove_show_order")}</Button>}
						{(lost || damaged) && (
							<Switch on={damaged} onTurn={allow}>
								{t("remove_damaged")}
							</Switch>
						)}
					</>
				);
			}}
		>
			<p class="note critical">{t(wallet.kind === "mnemonic" ? "remove_words" : "remove_key")}</p>
		</ActModal>
	);
}
