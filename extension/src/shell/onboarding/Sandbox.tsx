import { t } from "../../i18n/t";
import { useWallet } from "../../state/context";
import { useStore } from "../../state/store";

/** Sandbox warns that a sandbox only takes test wallets. */
export function Sandbox() {
	const hello = useStore(useWallet().hello);
	return hello?.sandbox ? <p class="note warn small">{t("sandbox_wallets")}</p> : null;
}
