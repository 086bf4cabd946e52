import { useState } from "preact/hooks";
import { t } from "../../i18n/t";
import type { Setting } from "../../wire/protocol";
import { Button } from "../../components/Button";
import { sentence } from "../../i18n/sentence";
import { EditSetting, ResetSetting } from "./EditSetting";
import { SettingSwitch } from "./SettingSwitch";
import { displayValue } from "./display-value";
import { useNames } from "./useSetting";

/** SettingRow is one setting: its value, where that comes from, and how to change it or why
 * it cannot be changed here. */
export function SettingRow({ setting }: { setting: Setting }) {
	const [open, setOpen] = useState<"edit" | "reset">();
	const names = useNames();
	const whole = names.whole(setting);
	const fixed = setting.refused !== undefined || setting.requires === "none";
	const turns = setting.type === "switch" && !fixed;
	return (
		<li class="setting">
			<div class="row">
				<div class="grow">
					{turns ? (
						<SettingSwitch setting={setting} />
					) : (
						<>
							<p>{names.setting(setting)}</p>
							<p class={`value ${/^0x[0-9a-fA-F]{40}$/.test(setting.value) ? "mono" : ""}`}>{displayValue(setting)}</p>
						</>
					)}
				</div>
				{!fixed && !turns && (
					<Button kind="plain" label={t("settings_change_of", whole)} onClick={() => setOpen("edit")}>
						{t("settings_change")}
					</Button>
				)}
			</div>
			{setting.source !== "default" && (
				<div class="row">
					<p class="soft small">{t(`settings_source_${setting.source}`, setting.name ?? "")}</p>
					{!fixed && setting.source === "setting" && (
						<Button kind="plain" label={t("settings_reset_of", whole)} onClick={() => setOpen("reset")}>
							{t("settings_reset")}
						</Button>
					)}
				</div>
			)}
			{fixed && setting.refused && <p class="soft small">{sentence(setting.refused)}</p>}
			{setting.pending && <p class="pending small">{t("settings_pending")}</p>}
			{open === "edit" && <EditSetting setting={setting} onClose={() => setOpen(undefined)} />}
			{open === "reset" && <ResetSetting setting={setting} onClose={() => setOpen(undefined)} />}
		</li>
	);
}
