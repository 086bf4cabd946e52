import type { Channel } from "../../state/channel";
import type { Connection } from "../../state/connection";
import { failureOf } from "../../wire/failure";
import type { CreateParams, CreateResult, ImportParams, KeysStatus } from "../../wire/protocol";
import { answerLost } from "../failure-text";

/** An Act makes one wallet, once: its uuid stays the same until there is an answer. */
export interface Act {
	request: string;
	/** Ids of the wallets that existed before. */
	before: readonly string[];
	/** It was sent but not answered: a wallet may have been made. */
	unanswered: boolean;
}

/** newAct returns a new act. After an unanswered one it keeps what is known about that. */
export function newAct(wallets: readonly { id: string }[], last?: Act): Act {
	if (last?.unanswered) return { ...last, request: crypto.randomUUID() };
	return { request: crypto.randomUUID(), before: wallets.map((w) => w.id), unanswered: false };
}

type Call = Pick<Channel, "call">;

/** createWallet makes a wallet. The result has no words if the answer to an earlier try was lost.
 * A restarted daemon has forgotten the uuid, so before asking again, the wallets are
 * checked for a new one. */
export async function createWallet(shell: Call, act: Act, params: Omit<CreateParams, "request">): Promise<CreateResult> {
	const made = act.unanswered ? await madeSince(shell, act) : undefined;
	if (made) return { wallet: made };
	return await once(act, () => shell.call("keys.create", { ...params, request: act.request }));
}

/** importWallet imports a wallet. A wallet that is new since the act began was imported by it. */
export async function importWallet(shell: Call, act: Act, params: Omit<ImportParams, "request">): Promise<CreateResult> {
	const made = act.unanswered ? await madeSince(shell, act) : undefined;
	if (made) return { wallet: made };
	return await once(act, () => shell.call("keys.import", { ...params, request: act.request }));
}

async function madeSince(shell: Call, act: Act): Promise<KeysStatus["wallets"][number] | undefined> {
	const { wallets } = await shell.call("keys.status", {});
	return wallets.find((w) => !act.before.includes(w.id));
}

async function once<T>(act: Act, ask: () => Promise<T>): Promise<T> {
	try {
		const answer = await ask();
		act.unanswered = false;
		return answer;
	} catch (thrown) {
		act.unanswered = answerLost(failureOf(thrown));
		throw thrown;
	}
}

/** unlockWith unlocks the new wallet, so that the password is not needed again. If that
 * fails, the unlock screen asks for it. */
export async function unlockWith({ shell, keys }: Pick<Connection, "shell" | "keys">, password: string): Promise<void> {
	const opened = await shell.call("keys.unlock", { password }).catch(() => undefined);
	if (opened) keys.set(opened);
}
