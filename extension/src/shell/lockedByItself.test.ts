import { expect, it } from "vitest";
import type { KeysChanged } from "../wire/protocol";
import { heedLocks, lockedByItself } from "./lockedByItself";

it("tells a lock for want of use from one that somebody asked for", () => {
	let hear: (params: KeysChanged) => void = () => {};
	heedLocks({ on: (_event, listener) => ((hear = listener as never), () => {}) });
	const states = [
		{ state: "locked", cause: "locked", idle: true },
		{ state: "locked", cause: "listed" },
		{ state: "unlocked", cause: "unlocked" },
		{ state: "locked", cause: "locked" },
	] as const;
	expect(states.map((s) => (hear(s), lockedByItself.get()))).toEqual([true, true, false, false]);
});
