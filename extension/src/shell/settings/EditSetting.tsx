import { useState } from "preact/hooks";
import { t } from "../../i18n/t";
import { failureOf } from "../../wire/failure";
import type { Setting } from "../../wire/protocol";
import { Field } from "../../components/Field";
import { Select } from "../../components/Select";
import { ActModal } from "../ActModal";
import { useNames, useSet } from "./useSetting";
import { choiceWords, displayValue } from "./display-value";
import { asksPassword, boundsOf, kinds } from "./values";

interface Props {
	setting: Setting;
	onClose: () => void;
}

/** EditSetting is a dialog to change one setting, with a field for its type. */
export function EditSetting({ setting, onClose }: Props) {
	const set = useSet();
	const [draft, setDraft] = useState(() => kinds[setting.type].draftOf(setting));
	const [tried, setTried] = useState(false);
	const read = kinds[setting.type].read(draft, setting);
	const wrong = typeof read === "string" ? read : undefined;
	const withPassword = typeof read !== "string" && asksPassword(setting, read.value);
	async function save(password: string) {
		setTried(true);
		if (typeof read === "string") return;
		await set({ key: setting.key, ...read, ...(withPassword ? { password } : {}) });
	}
	const [low, high] = boundsOf(setting) ?? [];
	const words = wrong && (tried || draft !== "") ? t(wrong, low ?? "", high ?? "") : undefined;
	return (
		<ActModal title={useNames().whole(setting)} act={t("save")} asksPassword={withPassword} ready={!wrong} onAct={save} onClose={onClose}>
			<Control setting={setting} draft={draft} setDraft={setDraft} wrong={words} />
			<p class="soft small">{t("settings_present", displayValue(setting))}</p>
			{setting.takesEffect === "restart" && <p class="soft small">{t("settings_restart")}</p>}
		</ActModal>
	);
}

interface ControlProps {
	setting: Setting;
	draft: string;
	setDraft: (draft: string) => void;
	wrong: string | undefined;
}

function Control({ setting, draft, setDraft, wrong }: ControlProps) {
	const bounds = boundsOf(setting);
	const hint = bounds && t("settings_bounds", ...bounds);
	const field = { value: draft, onInput: setDraft, wrong };
	switch (setting.type) {
		case "choice":
			return <Select label={t("settings_value")} value={draft} options={(setting.choices ?? []).map((c) => [c, choiceWords(c)] as const)} onChange={setDraft} />;
		case "percent":
			return <Field label={t("settings_percent")} inputMode="decimal" hint={hint} {...field} />;
		case "duration":
			return <Field label={t("settings_minutes")} inputMode="decimal" hint={hint} {...field} />;
		case "number":
			return <Field label={t("settings_value")} inputMode="decimal" hint={hint} {...field} />;
		case "urls":
			return <Field label={t("settings_urls")} rows={4} hint={t("settings_urls_hint")} placeholder="https://…" {...field} />;
		case "url":
			return <Field label={t("settings_url")} placeholder="https://…" {...field} />;
		case "switch": // a switch is changed in its row
		case "text":
			return <Field label={t("settings_value")} {...field} />;
	}
}

/** ResetSetting removes the value set here, so that the file's or the default applies again. */
export function ResetSetting({ setting, onClose }: Props) {
	const set = useSet();
	const [wanted, want] = useState(setting.requires === "password");
	async function forget(password: string) {
		try {
			await set({ key: setting.key, reset: true, ...(wanted ? { password } : {}) });
		} catch (thrown) {
			// The file's value may be above what a session may set.
			if (failureOf(thrown).details["field"] === "password") want(true);
			throw thrown;
		}
	}
	return (
		<ActModal
			title={useNames().whole(setting)} act={t("settings_reset")} asksPassword={wanted} onClose={onClose} onAct={forget}
		>
			<p>{t("settings_reset_text", displayValue(setting))}</p>
		</ActModal>
	);
}
