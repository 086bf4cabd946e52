import { useState } from "preact/hooks";
import { t } from "../../i18n/t";
import type { Setting } from "../../wire/protocol";
import { type Failure, failureOf } from "../../wire/failure";
import { Refusal } from "../../components/Refusal";
import { Switch } from "../../components/Switch";
import { ActModal } from "../ActModal";
import { subjectOf } from "./sections";
import { useNames, useSet } from "./useSetting";
import { inverted, isOn } from "./values";

/** SettingSwitch changes a setting at once, after asking for the password if needed. On a
 * refusal it shows the reason and switches back. */
export function SettingSwitch({ setting }: { setting: Setting }) {
	const set = useSet();
	const names = useNames();
	const about = subjectOf(setting.key);
	const name = about ? t("settings_switch", names.subject(about), names.setting(setting)) : names.setting(setting);
	const [wanted, want] = useState<boolean>();
	const [failure, fail] = useState<Failure>();
	const asksPassword = setting.requires === "password";
	const send = (on: boolean, password?: string) => set({ key: setting.key, value: String(on !== inverted(setting.key)), ...(password ? { password } : {}) });
	const turn = (on: boolean) => {
		if (wanted !== undefined) return;
		want(on);
		fail(undefined);
		if (asksPassword) return;
		send(on)
			.catch((thrown: unknown) => fail(failureOf(thrown)))
			.finally(() => want(undefined));
	};
	return (
		<>
			<Switch label={name} on={wanted ?? isOn(setting)} busy={wanted !== undefined} onTurn={turn}>
				{names.setting(setting)}
			</Switch>
			{failure && <Refusal failure={failure} />}
			{asksPassword && wanted !== undefined && (
				<ActModal
					title={name} act={t(wanted ? "settings_turn_on" : "settings_turn_off")} asksPassword
					onAct={(password) => send(wanted, password)} onClose={() => want(undefined)}
				>
					{setting.takesEffect === "restart" && <p class="soft small">{t("settings_restart")}</p>}
				</ActModal>
			)}
		</>
	);
}
