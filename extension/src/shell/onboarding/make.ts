import type { Channel } from "../../state/channel";
import type { Wallet } from "../../state/wallet";
import { failureOf } from "../../wire/failure";
import type { CreateParams, CreateResult, ImportParams, KeysStatus } from "../../wire/protocol";
import { lostAnswer } from "../troubles";

/** An Act makes one wallet, once: its uuid stays the same until it has an answer. */
export interface Act {
	request: string;
	/** Ids of the wallets that there were before it. */
	before: readonly string[];
	/** It was sent and its answer did not come: a wallet may have been made. */
	unanswered: boolean;
}

/** newAct names an act. One that is unanswered keeps what is known of it. */
export function newAct(wallets: readonly { id: string }[], last?: Act): Act {
	if (last?.unanswered) return { ...last, request: crypto.randomUUID() };
	return { request: crypto.randomUUID(), before: wallets.map((w) => w.id), unanswered: false };
}

type Call = Pick<Channel, "call">;

/** create makes a wallet. Without words in the result there is one whose words
 * nobody has seen: its answer was lost. A daemon that was restarted does not know
 * the uuid any more, so the wallets are looked at before it is asked again. */
export async function create(shell: Call, act: Act, params: Omit<CreateParams, "request">): Promise<CreateResult> {
	const made = act.unanswered ? await madeSince(shell, act) : undefined;
	if (made) return { wallet: made };
	return await once(act, () => shell.call("keys.create", { ...params, request: act.request }));
}

/** take imports a wallet. One that is there already since this act began was made
 * by it. */
export async function take(shell: Call, act: Act, params: Omit<ImportParams, "request">): Promise<CreateResult> {
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
		act.unanswered = lostAnswer(failureOf(thrown));
		throw thrown;
	}
}

/** openWith unlocks what was just made, so that the password is not needed any more.
 * A wallet that does not open now asks for it afterwards. */
export async function openWith(wallet: Pick<Wallet, "shell" | "keys">, password: string): Promise<void> {
	const opened = await wallet.shell.call("keys.unlock", { password }).catch(() => undefined);
	if (opened) wallet.keys.set(opened);
}
