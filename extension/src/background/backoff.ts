const first = 750;
const most = 30_000;

/** Backoff is how long to wait before the host is started again, in ms: 0.75 s,
 * doubled each time up to 30 s. */
export class Backoff {
	private wait = first;

	next(): number {
		const wait = this.wait;
		this.wait = Math.min(this.wait * 2, most);
		return wait;
	}

	/** reset after the host has worked. */
	reset(): void {
		this.wait = first;
	}
}
