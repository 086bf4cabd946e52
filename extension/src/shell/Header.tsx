import { t } from "../i18n/t";
import { useConnection, useNetworkData } from "../state/context";
import { refusalWords } from "../order/failure-words";
import { useStore } from "../state/store";
import { failureOf } from "../wire/failure";
import { announce } from "../components/Announcer";
import { Avatar } from "../components/Avatar";
import { shortAddress } from "../components/address";
import { Button } from "../components/Button";
import { go } from "./route";
import { Named } from "../components/Named";
import { Icon } from "../components/Icon";

/** Header shows the selected account and the active network. */
export function Header() {
	const { shell } = useConnection();
	const account = useStore(useConnection().account);
	const networks = useStore(useNetworkData().networks);
	const active = useStore(useNetworkData().active);
	const network = networks.find((n) => n.chainId === active);
	return (
		<header class="header row">
			<button type="button" class="chip grow" onClick={() => go({ at: "accounts" })}>
				<Named name={t("header_account", account?.name ?? "")}>
					<Avatar of={account?.address ?? ""} />
					<span class="cut">{account?.name}</span>
					<span class="soft small mono">{account && shortAddress(account.address)}</span>
				</Named>
			</button>
			<button type="button" class="chip" onClick={() => go({ at: "networks" })}>
				<Named name={t("header_network", network?.name ?? "")}>
					<Avatar of={String(active)} letter={network?.name} />
					<span class="cut">{network?.name}</span>
				</Named>
			</button>
			<Button kind="icon" label={t("header_lock")} onClick={() => void shell.call("keys.lock", {}).catch((thrown: unknown) => announce(refusalWords(failureOf(thrown)).title))}>
				<Icon name="lock" />
			</Button>
		</header>
	);
}
