import { languages, loadLanguage } from "../../i18n/t";
import { writeStored, readStored } from "../../state/browser-storage";
import type { Connection } from "../../state/connection";
import type { Setting } from "../../wire/protocol";
import { route } from "../route";

/** languageOf returns the configured language. "" means the browser's language: none is
 * configured, or it has no messages. */
export function languageOf(settings: readonly Pick<Setting, "key" | "value" | "source">[]): string {
	const setting = settings.find((s) => s.key === "ui.language");
	if (!setting || setting.source === "default") return "";
	const tag = setting.value.split("-")[0] ?? "";
	return Object.hasOwn(languages, tag) ? tag : "";
}

/** switchLanguage redraws this page in the language, and stores it so that the next page opens
 * in it. */
export async function switchLanguage(language: string): Promise<void> {
	writeStored("language", language);
	await loadLanguage(language);
	route.set({ ...route.get() }); // redraws everything
}

/** followLanguage applies the language when any window, or the terminal, changes it. */
export function followLanguage({ settings: store }: Pick<Connection, "settings">): void {
	store.subscribe((settings) => {
		if (settings.length > 0) void adopt(languageOf(settings));
	});
}

async function adopt(language: string): Promise<void> {
	if (((await readStored("language")) ?? "") !== language) await switchLanguage(language);
}
