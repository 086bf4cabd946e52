const first = 750;
const most = 30_000;

/** A Backoff yields the wait before the host is started again, in ms: 750 first, doubled by
 * each call of next up to 30,000. */
export class Backoff {
	private wait = first;

	next(): number {
		const wait = this.wait;
		this.wait = Math.min(this.wait * 2, most);
		return wait;
	}

	/** reset starts the waits over, after the host has run long enough. */
	reset(): void {
		this.wait = first;
	}
}
