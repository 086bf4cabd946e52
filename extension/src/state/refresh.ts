import type { Events } from "../wire/protocol";
import { failureOf } from "../wire/failure";
import { Backoff } from "../background/backoff";
import type { Channel } from "./channel";

/** Keychain errors that may have shown a prompt. They are not retried, as prompts would
 * follow each other; the user has to try again. */
const promptErrors = ["keychain_locked", "keychain_denied", "keychain_timeout"] as const;

/** retryUntilAnswered repeats a failed read with backoff, while `wanted`. */
export async function retryUntilAnswered(read: () => Promise<void>, wanted: () => boolean): Promise<void> {
	const backoff = new Backoff();
	do {
		try {
			return await read();
		} catch (thrown) {
			if (failureOf(thrown).is(...promptErrors)) return;
			await new Promise((resolve) => setTimeout(resolve, backoff.next()));
		}
	} while (wanted());
}

/** readOn calls `read` for each event of this name. If it fails, the last values stay; all
 * of them are read again when the daemon restarts. */
export function readOn<E extends keyof Events>(shell: Channel, event: E, read: (params: Events[E]) => unknown): void {
	shell.on(event, async (params) => {
		try {
			await read(params);
		} catch {
			// see above
		}
	});
}

/** latestAnswer returns a function that asks the daemon and takes its answer. The daemon
 * answers in any order, so an answer is dropped if a later request was answered before it.
 * While the later request is unanswered, an older answer is taken. */
export function latestAnswer<R>(ask: () => Promise<R>, take: (answer: R) => void): () => Promise<void> {
	let asked = 0;
	let taken = 0;
	return async () => {
		const own = ++asked;
		const answer = await ask();
		if (own < taken) return;
		taken = own;
		take(answer);
	};
}
