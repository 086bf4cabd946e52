import type { Order } from "../wire/protocol";
import { isObject } from "../wire/object";

/** Ended are the orders that ended while no page was open, until a person has looked at
 * them: by id, whether each was filled. The browser's session keeps them, for it ends
 * the background whenever it likes. Ids are no secret. */
export type Ended = Readonly<Record<string, boolean>>;

const key = "ended";

/** read is what was kept; nothing, where it cannot be read. */
async function read(): Promise<Ended> {
	const kept: Record<string, unknown> = await chrome.storage.session.get(key).catch(() => ({}));
	return endedOf(kept[key]);
}

/** endedOf reads what was kept, as far as it can be. */
export function endedOf(kept: unknown): Ended {
	if (!isObject(kept) || Array.isArray(kept)) return {};
	return Object.fromEntries(Object.entries(kept).filter((e): e is [string, boolean] => typeof e[1] === "boolean"));
}

/** onEnded tells of them now and whenever they change, in whichever page. */
export function onEnded(hear: (ended: Ended) => void): void {
	let changed = false;
	chrome.storage.session.onChanged.addListener((changes) => {
		if (!(key in changes)) return;
		changed = true;
		hear(endedOf(changes[key]?.newValue));
	});
	void read().then((ended) => changed || hear(ended));
}

/** One change is made after the other: each is of what the one before has left. */
let turn: Promise<void> = Promise.resolve();

function change(of: (ended: Ended) => Ended): Promise<void> {
	turn = turn.then(async () => chrome.storage.session.set({ [key]: of(await read()) })).catch(() => {}); // then it is not told
	return turn;
}

/** noteEnd keeps an order that ended. The daemon repeats some changes. */
export function noteEnd({ id, final, state }: Order): void {
	if (final) void change((ended) => ({ ...ended, [id]: state === "filled" }));
}

/** seeEnds forgets those that a person was shown. */
export function seeEnds(ids: readonly string[]): void {
	void change((ended) => Object.fromEntries(Object.entries(ended).filter(([id]) => !ids.includes(id))));
}
