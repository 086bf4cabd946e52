import type { Kept } from "../state/local";

/** applyTheme shows a theme; the system's needs nothing, the style sheet follows it. */
export function applyTheme(theme: Kept["theme"]): void {
	if (theme === "system") delete document.documentElement.dataset["theme"];
	else document.documentElement.dataset["theme"] = theme;
}
