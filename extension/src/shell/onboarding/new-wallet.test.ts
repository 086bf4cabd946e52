import { expect, it, vi } from "vitest";
import type { Events } from "../../wire/protocol";
import { dropWordsOnLock, type NewWallet } from "./new-wallet";

const made: NewWallet = { name: "w", words: ["one", "two"], warning: undefined, checking: true };

/** heeding runs keepWhileUnlocked with a fake channel. */
function heeding(of: NewWallet) {
	let listener: (params: Events["keys.changed"]) => void = () => {};
	const set = vi.fn();
	const stop = vi.fn();
	const end = dropWordsOnLock({ on: (_, heard) => ((listener = heard as never), stop) }, of, set);
	return { changed: (cause: Events["keys.changed"]["cause"]) => listener({ cause } as Events["keys.changed"]), set, stop, end };
}

it("takes the words away when the wallet locks, also while they are checked", () => {
	const h = heeding(made);
	h.changed("locked");
	expect(h.set.mock.calls).toEqual([[{ name: "w", words: [], warning: undefined, checking: false, locked: true }]]);
});

it("leaves them for any other change", () => {
	const h = heeding(made);
	for (const cause of ["unlocked", "created", "renamed"] as const) h.changed(cause as never);
	expect(h.set).not.toHaveBeenCalled();
});

it("says nothing of a lock where there were none, and stops when it is told to", () => {
	const h = heeding({ ...made, words: [] });
	h.changed("locked");
	expect(h.set).not.toHaveBeenCalled();
	h.end();
	expect(h.stop).toHaveBeenCalledOnce();
});
