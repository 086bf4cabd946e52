import { expect, test } from "vitest";
import { rowAfterKey } from "./arrows";

test.each([
	["ArrowDown", -1, 0], // from the search field into the rows
	["ArrowDown", 0, 1],
	["ArrowDown", 2, 2], // the last row
	["ArrowUp", 1, 0],
	["ArrowUp", 0, -1], // back to the search field
	["ArrowUp", -1, -1],
	["Home", 2, 0],
	["End", 0, 2],
	["Home", -1, undefined], // in the search field they move the text cursor
	["End", -1, undefined],
	["Enter", 1, undefined],
])("%s at %i leads to %s", (key, at, to) => {
	expect(rowAfterKey(key, at, 3)).toBe(to);
});

test("without rows every key is left alone", () => {
	expect(rowAfterKey("ArrowDown", -1, 0)).toBeUndefined();
});
