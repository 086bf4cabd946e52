/** A FakePort is a runtime port for tests. The test holds the other end: it reads what was
 * posted, sends messages, and ends the port. Messages are copied as JSON, as browsers do. */
export class FakePort {
	posted: unknown[] = [];
	open = true;
	error: { message: string } | null = null;
	private listeners: ((message: never) => void)[] = [];
	private enders: (() => void)[] = [];
	/** Called with each posted message, to connect two fake ports. */
	onPost: ((message: unknown) => void) | undefined;

	constructor(
		readonly name = "",
		readonly sender: chrome.runtime.MessageSender | undefined = undefined,
	) {}

	readonly onMessage = { addListener: (listener: (message: never) => void) => void this.listeners.push(listener) };
	readonly onDisconnect = { addListener: (end: () => void) => void this.enders.push(end) };

	postMessage(message: unknown): void {
		if (!this.open) throw new Error("Attempting to use a disconnected port object");
		const copy: unknown = JSON.parse(JSON.stringify(message));
		this.posted.push(copy);
		this.onPost?.(copy);
	}

	/** As in browsers, only the other end gets onDisconnect. */
	disconnect(): void {
		this.open = false;
	}

	/** deliver delivers a message from the other end. */
	deliver(message: unknown): void {
		const copy: unknown = message === undefined ? undefined : JSON.parse(JSON.stringify(message));
		if (this.open) for (const listener of this.listeners) listener(copy as never);
	}

	/** closeFromOtherEnd closes the port from the other end, with a reason where the browser
	 * gives one. */
	closeFromOtherEnd(reason: string | null = null): void {
		if (!this.open) return;
		this.open = false;
		this.error = reason === null ? null : { message: reason };
		for (const end of this.enders) end();
	}

	last<T>(): T {
		return this.posted.at(-1) as T;
	}

	get port(): chrome.runtime.Port {
		return this as unknown as chrome.runtime.Port;
	}
}
