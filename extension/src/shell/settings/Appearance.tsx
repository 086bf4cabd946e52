import { useEffect, useRef, useState } from "preact/hooks";
import { languages, t } from "../../i18n/t";
import { writeStored, type StoredValues, readStored } from "../../state/browser-storage";
import { useConnection } from "../../state/context";
import { useStore } from "../../state/store";
import { type Failure, failureOf } from "../../wire/failure";
import { Refusal } from "../../components/Refusal";
import { Select } from "../../components/Select";
import { applyTheme } from "../theme";
import { languageOf, switchLanguage } from "./language";
import { useSet } from "./useSetting";

/** Appearance has the appearance settings. The language is stored by the daemon, for all windows;
 * the theme by this browser. */
export function Appearance() {
	return (
		<>
			<Language />
			<Theme />
			<dl class="facts card">
				<dt>{t("look_currency")}</dt>
				<dd>{t("look_usd")}</dd>
			</dl>
		</>
	);
}

/** Language sets the language. Arrow keys select one language after another. Requests run in
 * sequence, and those that were superseded are skipped. */
function Language() {
	const set = useSet();
	const settings = useStore(useConnection().settings);
	const setting = settings.find((s) => s.key === "ui.language");
	const [wanted, setWanted] = useState<string>();
	const [failure, setFailure] = useState<Failure>();
	const turn = useRef(0);
	const before = useRef(Promise.resolve());
	function choose(language: string) {
		const mine = ++turn.current;
		setWanted(language);
		setFailure(undefined);
		before.current = before.current.then(async () => {
			if (mine !== turn.current) return;
			try {
				await set(language ? { key: "ui.language", value: language } : { key: "ui.language", reset: true });
				await switchLanguage(language);
			} catch (thrown) {
				setFailure(failureOf(thrown));
			}
			if (mine === turn.current) setWanted(undefined);
		});
	}
	return (
		<>
			<Select
				label={t("look_language")} value={wanted ?? languageOf(settings)} disabled={setting?.refused !== undefined} hint={setting?.refused}
				options={[["", t("look_language_browser")] as const, ...Object.entries(languages)]} onChange={choose}
			/>
			{failure && <Refusal failure={failure} />}
		</>
	);
}

type Theme = StoredValues["theme"];

function Theme() {
	const [theme, setTheme] = useState<Theme>("system");
	useEffect(() => void readStored("theme").then((found) => found && setTheme(found)), []);
	return (
		<Select
			label={t("look_theme")} value={theme}
			options={(["system", "light", "dark"] as const).map((of) => [of, t(`look_theme_${of}`)] as const)}
			onChange={(chosen) => {
				setTheme(chosen as Theme);
				writeStored("theme", chosen as Theme);
				applyTheme(chosen as Theme);
			}}
		/>
	);
}
