import { t } from "../../i18n/t";
import { useWallet } from "../../state/context";
import { failureOf } from "../../wire/failure";
import type { Wallet } from "../../wire/protocol";
import { announce } from "../../components/Announcer";
import { Button } from "../../components/Button";
import { ActModal } from "../ActModal";
import { go } from "../route";

/** RemoveWallet removes a wallet for good; the password is asked for each time. */
export function RemoveWallet({ wallet, onClose }: { wallet: Wallet; onClose: () => void }) {
	const { shell } = useWallet();
	async function remove(password: string, request: string) {
		try {
			await shell.call("keys.remove", { request, wallet: wallet.id, password });
			announce(t("remove_done", wallet.name));
		} catch (thrown) {
			// The wallet is gone; only its encrypted item waits for the next unlock.
			if (!failureOf(thrown).is("keychain_leftover")) throw thrown;
			announce(t("remove_leftover", wallet.name));
		}
	}
	return (
		<ActModal
			title={t("accounts_remove_of", wallet.name)} act={t("remove_wallet")} critical asksPassword onAct={remove} onClose={onClose}
			remedy={(failure) => {
				const id = failure.is("open_orders") && failure.details["order"];
				return id && <Button onClick={() => go({ at: "order", id })}>{t("remove_show_order")}</Button>;
			}}
		>
			<p class="note critical">{t(wallet.kind === "mnemonic" ? "remove_words" : "remove_key")}</p>
		</ActModal>
	);
}
