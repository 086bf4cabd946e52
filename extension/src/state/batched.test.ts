import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { batched } from "./batched";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("hands one on at once, and those on its heels together", () => {
	const took: number[][] = [];
	const give = batched<number>((items) => void took.push([...items]));
	for (const n of [1, 2, 3]) give(n);
	expect(took).toEqual([[1]]);
	vi.advanceTimersByTime(50);
	expect(took).toEqual([[1], [2, 3]]);
	give(4);
	vi.advanceTimersByTime(50);
	expect(took).toEqual([[1], [2, 3], [4]]);
	vi.advanceTimersByTime(1000);
	give(5);
	expect(took).toEqual([[1], [2, 3], [4], [5]]);
});
