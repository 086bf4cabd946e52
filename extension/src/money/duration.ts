import { t } from "../i18n/t";

/** approximateDuration formats an approximate duration. */
export function approximateDuration(seconds: number): string {
	if (seconds < 60) return t("about_seconds", Math.max(1, Math.round(seconds)));
	if (seconds < 2 * 3600) return t("about_minutes", Math.round(seconds / 60));
	return t("about_hours", Math.round(seconds / 3600));
}
