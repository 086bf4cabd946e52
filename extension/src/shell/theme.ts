import type { StoredValues } from "../state/browser-storage";

/** applyTheme sets the theme. "system" needs no attribute: the style sheet follows the system. */
export function applyTheme(theme: StoredValues["theme"]): void {
	if (theme === "system") delete document.documentElement.dataset["theme"];
	else document.documentElement.dataset["theme"] = theme;
}
