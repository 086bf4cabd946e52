import { expect, it } from "vitest";
import type { KeysChanged } from "../wire/protocol";
import { followLocks, autoLocked } from "./autoLocked";

it("tells a lock for want of use from one that somebody asked for", () => {
	let notify: (params: KeysChanged) => void = () => {};
	followLocks({ on: (_event, listener) => ((notify = listener as never), () => {}) });
	const states = [
		{ state: "locked", cause: "locked", idle: true },
		{ state: "locked", cause: "listed" },
		{ state: "unlocked", cause: "unlocked" },
		{ state: "locked", cause: "locked" },
	] as const;
	expect(states.map((s) => (notify(s), autoLocked.get()))).toEqual([true, true, false, false]);
});
