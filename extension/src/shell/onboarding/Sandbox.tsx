import { t } from "../../i18n/t";
import { useConnection } from "../../state/context";
import { useStore } from "../../state/store";

/** Sandbox warns that a sandbox only takes test wallets. */
export function Sandbox() {
	const hello = useStore(useConnection().hello);
	return hello?.sandbox ? <p class="note warn small">{t("sandbox_wallets")}</p> : null;
}
