/** Changes that come faster are taken together, so long apart at least, in ms. */
const pause = 50;

/** batched hands items on: one that comes alone at once, and those that follow on its
 * heels together. Fifty changes a second are drawn twenty times. */
export function batched<T>(take: (items: readonly T[]) => void): (item: T) => void {
	let waiting: T[] | undefined;
	const hand = (items: readonly T[]) => {
		waiting = [];
		setTimeout(() => {
			const more = waiting ?? [];
			waiting = undefined;
			if (more.length > 0) hand(more);
		}, pause);
		take(items);
	};
	return (item) => (waiting ? void waiting.push(item) : hand([item]));
}
