import type { Link } from "../wire/link";

/** How browsers report that a native port closed (PROTOCOL.md §2). After these endings the
 * host is started again only when somebody asks; every other ending is retried. */
const endings: readonly { words: RegExp; at: "missing" | "forbidden" }[] = [
	{ words: /native messaging host not found/i, at: "missing" }, // Chromium
	{ words: /native messaging host is forbidden/i, at: "forbidden" }, // Chromium
	{ words: /no such native application/i, at: "missing" }, // Firefox, for missing and forbidden alike
	{ words: /an unexpected error occurred/i, at: "missing" }, // Firefox, for a manifest whose program is missing
	{ words: /invalid native messaging host name/i, at: "missing" },
];

/** linkAfterClose returns the link state for a port that closed with the browser's message
 * `words`; Firefox gives none when the host ended by itself. retryAt is called only for
 * endings that are retried. */
export function linkAfterClose(words: string | undefined, retryAt: () => number): Link {
	const reason = words ?? "";
	const found = endings.find((e) => e.words.test(reason));
	return found ? { at: found.at, reason } : { at: "lost", reason, retryAt: retryAt() };
}
