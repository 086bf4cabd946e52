import { providerName } from "../../i18n/provider-name";
import { optionalMessage, t } from "../../i18n/t";
import { useConnection, useNetworkData } from "../../state/context";
import { networkName } from "../../state/network-name";
import { useStore } from "../../state/store";
import type { SetParams, Setting } from "../../wire/protocol";
import { messageOf, type Subject, subjectOf } from "./sections";

/** useSet returns a function that changes a setting. All windows are notified; this one
 * applies the answer. */
export function useSet(): (params: SetParams) => Promise<void> {
	const { shell, settings } = useConnection();
	return async (params) => {
		const { setting } = await shell.call("settings.set", params);
		settings.update((all) => all.map((s) => (s.key === setting.key ? setting : s)));
	};
}

/** useNames returns the names of settings and their subjects. */
export function useNames(): { subject(of: Subject): string; setting(of: Setting): string; whole(of: Setting): string } {
	const networks = useStore(useNetworkData().networks);
	const subject = ({ of, name }: Subject) => {
		if (of === "network") return networkName(Number(name), networks);
		return of === "provider" ? providerName(name) : (optionalMessage(`source_${name}`) ?? name);
	};
	// A setting that only a newer daemon has is shown with the daemon's description.
	const setting = (of: Setting) => optionalMessage(messageOf(of.key)) ?? of.description;
	const whole = (of: Setting) => {
		const about = subjectOf(of.key);
		return about ? t("settings_of", setting(of), subject(about)) : setting(of);
	};
	return { subject, setting, whole };
}
