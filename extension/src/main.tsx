import { render } from "preact";
import { speak } from "./i18n/t";
import { App } from "./shell/App";
import { followLanguage } from "./shell/settings/language";
import { heedLocks } from "./shell/lockedByItself";
import { applyTheme } from "./shell/theme";
import { openChannel } from "./state/channel";
import { WalletProvider } from "./state/context";
import { followEnded } from "./state/ended";
import { kept } from "./state/local";
import { createWallet } from "./state/wallet";
import { restoreDraft } from "./swap/draft";

// A tab has more room than the popup, and stays open when it loses focus.
if (new URLSearchParams(location.search).get("view") === "tab") document.documentElement.dataset["view"] = "tab";

const shell = openChannel("shell");
heedLocks(shell);
followEnded();
const wallet = createWallet(shell);
const [language, theme] = await Promise.all([kept("language"), kept("theme"), restoreDraft()]);
applyTheme(theme ?? "system");
await speak(language ?? "");
followLanguage(wallet);
render(
	<WalletProvider value={wallet}>
		<App />
	</WalletProvider>,
	document.getElementById("root")!,
);
