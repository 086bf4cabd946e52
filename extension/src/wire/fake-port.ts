/** A FakePort is a runtime port in a test, which holds the other end: it sees what was
 * posted, says things, and ends it. Messages are copied as browsers copy them. */
export class FakePort {
	posted: unknown[] = [];
	open = true;
	error: { message: string } | null = null;
	private hearers: ((message: never) => void)[] = [];
	private enders: (() => void)[] = [];
	/** Set for a port that hands on what is posted. */
	onPost: ((message: unknown) => void) | undefined;

	constructor(
		readonly name = "",
		readonly sender: chrome.runtime.MessageSender | undefined = undefined,
	) {}

	readonly onMessage = { addListener: (hear: (message: never) => void) => void this.hearers.push(hear) };
	readonly onDisconnect = { addListener: (end: () => void) => void this.enders.push(end) };

	postMessage(message: unknown): void {
		if (!this.open) throw new Error("Attempting to use a disconnected port object");
		const copy: unknown = JSON.parse(JSON.stringify(message));
		this.posted.push(copy);
		this.onPost?.(copy);
	}

	/** As in browsers, onDisconnect is the other end's alone. */
	disconnect(): void {
		this.open = false;
	}

	/** say has the other end say something. */
	say(message: unknown): void {
		const copy: unknown = message === undefined ? undefined : JSON.parse(JSON.stringify(message));
		if (this.open) for (const hear of this.hearers) hear(copy as never);
	}

	/** end has the other end go away, for a reason where the browser tells one. */
	end(reason: string | null = null): void {
		if (!this.open) return;
		this.open = false;
		this.error = reason === null ? null : { message: reason };
		for (const end of this.enders) end();
	}

	/** The last message that was posted. */
	last<T>(): T {
		return this.posted.at(-1) as T;
	}

	get port(): chrome.runtime.Port {
		return this as unknown as chrome.runtime.Port;
	}
}
