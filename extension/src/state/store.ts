import { useEffect, useRef, useState } from "preact/hooks";

/** A Store holds one value that several views show. */
export interface Store<T> {
	get(): T;
	set(value: T): void;
	update(change: (value: T) => T): void;
	subscribe(hear: (value: T) => void): () => void;
}

export function store<T>(initial: T): Store<T> {
	let value = initial;
	const hearers = new Set<(value: T) => void>();
	const set = (next: T) => {
		if (Object.is(next, value)) return;
		value = next;
		for (const hear of [...hearers]) hear(value);
	};
	return {
		get: () => value,
		set,
		update: (change) => set(change(value)),
		subscribe(hear) {
			hearers.add(hear);
			return () => void hearers.delete(hear);
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
		const hear = (value: T) => Object.is(drawn.current.select(value), drawn.current.shown) || draw({});
		hear(from.get()); // it may have changed before the subscription
		return from.subscribe(hear);
	}, [from]);
	return shown;
}
