import { dates } from "./formats";
import { locale } from "./t";

type Style = "clock" | "minute" | "date" | "dated" | "day" | "whole";

const styles: Record<Style, Intl.DateTimeFormatOptions> = {
	clock: { timeStyle: "medium" },
	minute: { timeStyle: "short" },
	date: { day: "numeric", month: "short" },
	dated: { dateStyle: "medium", timeZone: "UTC" },
	day: { weekday: "long", day: "numeric", month: "long" },
	whole: { dateStyle: "medium", timeStyle: "short" },
};

/** formatTime formats a time (RFC 3339, or ms since 1970) in the reader's language and time zone:
 * clock 14:05:09, minute 14:05, date 3 May, dated 3 May 2026 (a day of the calendar, in no zone), day Monday 3 May, whole date and time. */
export function formatTime(time: string | number, style: Style): string {
	return dates(locale(), styles[style]).format(new Date(time));
}

/** formatSeconds formats seconds as 4:05 or 1:02:09; negative values count as zero. */
export function formatSeconds(seconds: number): string {
	const left = Math.max(0, Math.floor(seconds));
	const parts = [Math.floor(left / 3600), Math.floor(left / 60) % 60, left % 60];
	const [hours, minutes, rest] = parts as [number, number, number];
	const two = (n: number) => String(n).padStart(2, "0");
	return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
}

export const isToday = (time: string | number): boolean => new Date(time).toDateString() === new Date().toDateString();
