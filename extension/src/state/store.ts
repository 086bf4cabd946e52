import { useEffect, useRef, useState } from "preact/hooks";

/** A Store holds one value that several views show. */
export interface Store<T> {
	get(): T;
	set(value: T): void;
	update(change: (value: T) => T): void;
	subscribe(listener: (value: T) => void): () => void;
}

export function store<T>(initial: T): Store<T> {
	let value = initial;
	const listeners = new Set<(value: T) => void>();
	const set = (next: T) => {
		if (Object.is(next, value)) return;
		value = next;
		for (const listener of [...listeners]) listener(value);
	};
	return {
		get: () => value,
		set,
		update: (change) => set(change(value)),
		subscribe(listener) {
			listeners.add(listener);
			return () => void listeners.delete(listener);
		},
	};
}

/** useStore returns a store's value, or what `select` picks from it, and redraws the view
 * only when that changes. */
export function useStore<T, S = T>(from: Store<T>, select: (value: T) => S = (value) => value as unknown as S): S {
	const [, draw] = useState({});
	const shown = select(from.get());
	const drawn = useRef({ select, shown });
	drawn.current = { select, shown };
	useEffect(() => {
		const listener = (value: T) => Object.is(drawn.current.select(value), drawn.current.shown) || draw({});
		listener(from.get()); // it may have changed before the subscription
		return from.subscribe(listener);
	}, [from]);
	return shown;
}
