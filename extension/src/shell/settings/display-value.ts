import type { MessageKey } from "../../i18n/keys";
import { numbers } from "../../i18n/formats";
import { locale, t } from "../../i18n/t";
import { percent } from "../../money/percent";
import type { Setting } from "../../wire/protocol";
import { isOn, secondsOf } from "./values";

/** displayValue formats a setting's value for reading. */
export function displayValue(setting: Setting): string {
	const { type, value, values } = setting;
	if (type === "urls") return values?.length ? values.join(", ") : t("settings_empty");
	if (type === "switch") return t(isOn(setting) ? "settings_on" : "settings_off");
	if (value === "") return t(setting.key.endsWith("base_url") ? "settings_own" : "settings_empty");
	if (type === "choice") return choiceWords(value);
	if (type === "percent") return percent(Number(value));
	if (type === "duration") return duration(secondsOf(value));
	if (type === "number") return number(value);
	return value;
}

const choices: Readonly<Record<string, MessageKey>> = { os: "choice_os", file: "choice_file" };

/** choiceWords returns the text of a choice; most have no message and are shown as they are. */
export function choiceWords(choice: string): string {
	const words = choices[choice];
	return words ? t(words) : choice;
}

const number = (value: string) => numbers(locale(), { maximumFractionDigits: 2 }).format(Number(value));

function duration(seconds: number): string {
	const part = (value: number, unit: "hour" | "minute" | "second") =>
		value > 0 ? [numbers(locale(), { style: "unit", unit, unitDisplay: "long" }).format(value)] : [];
	return [...part(Math.floor(seconds / 3600), "hour"), ...part(Math.floor(seconds / 60) % 60, "minute"), ...part(seconds % 60, "second")].join(" ");
}
