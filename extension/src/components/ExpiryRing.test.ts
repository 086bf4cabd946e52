import { expect, test } from "vitest";
import { remaining } from "./ExpiryRing";

test.each([
	[1000, 0, 1],
	[1000, 250, 0.75],
	[1000, 1000, 0],
	[1000, 5000, 0], // expired
	[1000, -50, 1], // the clock was set back
	[0, 0, 0], // expired on arrival
	[Number.NaN, 0, 0], // no valid time
])("until %d, %d of it gone, leaves %d", (until, now, rest) => {
	expect(remaining(0, until, now)).toBe(rest);
});
