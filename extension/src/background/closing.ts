import type { Link } from "../wire/link";

/** Why a native port closed, by the words of the browsers (PROTOCOL.md §2). Each
 * kind of end has one answer: start again, or wait until somebody asks to. */
const endings: readonly { words: RegExp; at: "missing" | "forbidden" }[] = [
	{ words: /native messaging host not found/i, at: "missing" }, // Chromium
	{ words: /native messaging host is forbidden/i, at: "forbidden" }, // Chromium
	{ words: /no such native application/i, at: "missing" }, // Firefox, for both
	{ words: /an unexpected error occurred/i, at: "missing" }, // Firefox, for a manifest without its program
	{ words: /invalid native messaging host name/i, at: "missing" },
];

/** closing is the link after a port that closed with these words; Firefox has none
 * for a host that ended by itself. retryAt is for the endings that are retried. */
export function closing(words: string | undefined, retryAt: () => number): Link {
	const reason = words ?? "";
	const found = endings.find((e) => e.words.test(reason));
	return found ? { at: found.at, reason } : { at: "lost", reason, retryAt: retryAt() };
}
