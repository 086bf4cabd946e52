import { render } from "preact";
import { loadLanguage } from "./i18n/t";
import { App } from "./shell/App";
import { followLanguage } from "./shell/settings/language";
import { followLocks } from "./shell/autoLocked";
import { applyTheme } from "./shell/theme";
import { openChannel } from "./state/channel";
import { WalletProvider } from "./state/context";
import { followUnseenOrders } from "./state/unseen-orders";
import { readStored } from "./state/browser-storage";
import { createWallet } from "./state/wallet";
import { restoreDraft } from "./swap/draft";

// A tab has more room than the popup, and stays open when it loses focus.
if (new URLSearchParams(location.search).get("view") === "tab") document.documentElement.dataset["view"] = "tab";

const shell = openChannel("shell");
followLocks(shell);
followUnseenOrders();
const wallet = createWallet(shell);
const [language, theme] = await Promise.all([readStored("language"), readStored("theme"), restoreDraft()]);
applyTheme(theme ?? "system");
await loadLanguage(language ?? "");
followLanguage(wallet.connection);
render(
	<WalletProvider value={wallet}>
		<App />
	</WalletProvider>,
	document.getElementById("root")!,
);
