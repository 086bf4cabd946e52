import { render } from "preact";
import { speak } from "./i18n/t";
import { App } from "./shell/App";
import { applyTheme } from "./shell/theme";
import { openChannel } from "./state/channel";
import { WalletProvider } from "./state/context";
import { kept } from "./state/local";
import { createWallet } from "./state/wallet";
import { restoreDraft } from "./swap/draft";

// A tab has the room that a popup lacks, and stays open when it loses the focus.
if (new URLSearchParams(location.search).get("view") === "tab") document.documentElement.dataset["view"] = "tab";

const wallet = createWallet(openChannel("shell"));
const [language, theme] = await Promise.all([kept("language"), kept("theme"), restoreDraft()]);
applyTheme(theme ?? "system");
await speak(language ?? "");
render(
	<WalletProvider value={wallet}>
		<App />
	</WalletProvider>,
	document.getElementById("root")!,
);
