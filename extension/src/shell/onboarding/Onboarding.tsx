import { useState } from "preact/hooks";
import { t } from "../../i18n/t";
import { useConnection } from "../../state/context";
import { useStore } from "../../state/store";
import { Button } from "../../components/Button";
import { Logo } from "../../components/Logo";
import { Screen } from "../../components/Screen";
import { Create } from "./Create";
import { Import } from "./Import";
import { Sandbox } from "./Sandbox";
import { inTab, currentSetup, startSetup } from "./setup";

/** Onboarding makes the first wallet, or another one. */
export default function Onboarding() {
	const setup = useStore(currentSetup);
	const { keys } = useConnection();
	// As it was at the start: making the wallet changes keys.state.
	const [first] = useState(() => (keys.get()?.state ?? "none") === "none");
	if (setup.stage === "none") return <Welcome />;
	return setup.way === "create" ? <Create first={first} /> : <Import first={first} />;
}

function Welcome() {
	return (
		<Screen title={t("welcome")}>
			<Logo />
			<p>{t("welcome_text")}</p>
			<ul class="points stack tight">
				<li>{t("welcome_keys")}</li>
				<li>{t("welcome_terms")}</li>
				<li>{t("welcome_proof")}</li>
			</ul>
			<Sandbox />
			<div class="stack tight">
				<Button kind="main" onClick={() => startSetup("create")}>
					{t("create_wallet")}
				</Button>
				<Button onClick={() => startSetup("import")}>{t("import_wallet")}</Button>
			</div>
			{!inTab() && <p class="soft small">{t("welcome_tab")}</p>}
		</Screen>
	);
}
