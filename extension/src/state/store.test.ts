import { expect, it, vi } from "vitest";
import { store } from "./store";

it("tells who listens of each new value, and of no other", () => {
	const s = store(1);
	const heard = vi.fn();
	const forget = s.subscribe(heard);
	s.set(1);
	s.update((n) => n + 1);
	s.update((n) => n);
	forget();
	s.set(9);
	expect(heard.mock.calls).toEqual([[2]]);
	expect(s.get()).toBe(9);
});

it("lets who listens stop, and change the value, while it hears", () => {
	const s = store(0);
	const seen: number[] = [];
	const forget = s.subscribe((n) => {
		forget();
		s.set(n + 1);
	});
	s.subscribe((n) => seen.push(n));
	s.set(1);
	expect(s.get()).toBe(2);
	expect(seen).toContain(2);
});
