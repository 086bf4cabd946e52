/** Least time between two calls of `take`, in ms. */
const pause = 50;

/** batched passes on an item at once if none came in the last `pause`, and collects the
 * items that follow. Fifty changes a second are drawn twenty times. */
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
