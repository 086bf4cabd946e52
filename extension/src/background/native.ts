import { type ErrorName, errors, type Events, type Hello, maxVersion, type Methods, minVersion } from "../wire/protocol";
import type { Link } from "../wire/link";
import { Failure, failureOf, type WireError } from "../wire/failure";
import { isObject } from "../wire/object";
import { Backoff } from "./backoff";
import { linkAfterClose } from "./link-after-close";

/** The host's name, by which browsers find its manifest. It must never change. */
export const HOST = "app.swapkeep.host";

/** A host that worked longer than this, in ms, has the backoff start over when it ends. */
const stableAfter = 5_000;

/** How long a request may take, in ms. The protocol allows two minutes; a browser silently
 * drops a frame that it cannot read, so a request may never be answered. */
const requestTimeout = 125_000;

/** How long the version handshake may take, in ms. A host that has not finished it by then
 * is disconnected. */
const handshakeTimeout = 15_000;

/** The browser functions that Native needs, so that a test can replace them. */
export interface Browser {
	connect(): chrome.runtime.Port;
	lastError(): string | undefined;
	now(): number;
}

interface Pending {
	resolve(result: unknown): void;
	reject(failure: Failure): void;
	timer: ReturnType<typeof setTimeout>;
}

type Incoming =
	| { id: number; result?: unknown; error?: WireError }
	| { id: null; error: WireError }
	| { id?: undefined; method: keyof Events; params: never };

/** wireErrorOf builds an error of the protocol's table for a failure found by the extension. */
export function wireErrorOf(name: ErrorName, message?: string): WireError {
	const row = errors[name];
	return { code: row.code, message: message ?? row.means, data: { name, retryable: row.retryable, remedy: row.remedy } };
}

function agreed(hello: Hello | undefined): boolean {
	const version = hello?.protocol?.selected;
	return typeof version === "number" && version >= minVersion && version <= maxVersion;
}

/** Native is the only port to the host, shared by all pages. It numbers requests, matches
 * answers to them, and restarts a host that ended, with backoff. It stores no content. */
export class Native {
	private port: chrome.runtime.Port | undefined;
	private pending = new Map<number, Pending>();
	private nextID = 1;
	private backoff = new Backoff();
	private retry: ReturnType<typeof setTimeout> | undefined;
	private handshakeTimer: ReturnType<typeof setTimeout> | undefined;
	private daemonSeen = false;
	private readySince = 0;
	private hostError: WireError | undefined;
	link: Link = { at: "connecting" };

	constructor(
		private readonly browser: Browser,
		private readonly onLink: (link: Link) => void,
		private readonly onEvent: <E extends keyof Events>(event: E, params: Events[E]) => void,
	) {}

	/** open connects to the host unless there is a port already. It is called for each page
	 * that opens. */
	open(): void {
		if (this.port) return;
		clearTimeout(this.retry);
		this.hostError = undefined;
		this.daemonSeen = false;
		this.change({ at: "connecting" });
		let port: chrome.runtime.Port;
		try {
			port = this.browser.connect();
		} catch (thrown) {
			this.publishEnd(failureOf(thrown).message);
			return;
		}
		this.port = port;
		this.startHandshakeTimer(port);
		port.onMessage.addListener((message: Incoming) => this.port === port && this.receive(port, message));
		port.onDisconnect.addListener(() => this.closed(port));
	}

	/** retryNow connects because a person asked. After a version mismatch it reconnects,
	 * since the daemon may have been updated. */
	retryNow(): void {
		const { port } = this;
		if (port && this.link.at === "outdated") {
			port.disconnect();
			this.closed(port);
		}
		this.open();
	}

	private startHandshakeTimer(port: chrome.runtime.Port): void {
		clearTimeout(this.handshakeTimer);
		this.handshakeTimer = setTimeout(() => {
			port.disconnect();
			this.closed(port);
		}, handshakeTimeout);
	}

	/** call sends a request to the daemon. It rejects with a Failure: daemon_lost if there
	 * is no port or it closes first (an act may then be repeated with the same request
	 * uuid), timed_out after `patience`, or the daemon's own error. onID gets the JSON-RPC
	 * id, which swap.quoted refers to. */
	call<M extends keyof Methods>(method: M, params: Methods[M]["params"], onID?: (id: number) => void): Promise<Methods[M]["result"]> {
		return new Promise((resolve, reject) => {
			if (!this.port) {
				reject(new Failure(wireErrorOf("daemon_lost", "swapkeep is not running")));
				return;
			}
			const id = this.nextID++;
			onID?.(id);
			const timer = setTimeout(() => this.takePending(id)?.reject(new Failure(wireErrorOf("timed_out"))), requestTimeout);
			this.pending.set(id, { resolve: resolve as (result: unknown) => void, reject, timer });
			const empty = params === undefined || Object.keys(params).length === 0;
			try {
				this.port.postMessage({ jsonrpc: "2.0", id, method, ...(empty ? {} : { params }) });
			} catch {
				this.takePending(id)?.reject(new Failure(wireErrorOf("daemon_lost"))); // the port is closing; onDisconnect follows
			}
		});
	}

	private receive(port: chrome.runtime.Port, message: Incoming | null): void {
		if (!isObject(message)) return;
		// After most errors with id null the port closes. If another message follows, the
		// error was about a single message.
		this.hostError = message.id === null ? message.error : undefined;
		if (message.id === null) return;
		if (message.id === undefined) {
			if (message.method === "host.hello") void this.hello(port);
			else if (typeof message.method === "string" && isObject(message.params)) this.onEvent(message.method, message.params);
			return; // notifications without parameters are dropped
		}
		const waiting = this.takePending(message.id);
		if (!waiting) return;
		if (message.error) waiting.reject(new Failure(message.error));
		else if (message.result === undefined) waiting.reject(new Failure(wireErrorOf("internal", "the answer has neither a result nor an error")));
		else waiting.resolve(message.result);
	}

	/** hello answers a daemon's greeting: the first, or that of a daemon that restarted
	 * behind the same port. Requests to the one before fail with daemon_lost. Then the
	 * versions are agreed on. */
	private async hello(port: chrome.runtime.Port): Promise<void> {
		if (this.daemonSeen) this.failPending();
		this.daemonSeen = true;
		this.startHandshakeTimer(port);
		try {
			const hello = await this.call("host.hello", { protocol: { min: minVersion, max: maxVersion } });
			if (!agreed(hello)) return; // not a Swapkeep daemon; the handshake times out
			clearTimeout(this.handshakeTimer);
			this.readySince = this.browser.now();
			this.change({ at: "ready", hello });
		} catch (thrown) {
			const failure = thrown as Failure;
			if (!failure.is("version_mismatch")) return; // the port closes, or the handshake times out
			clearTimeout(this.handshakeTimer);
			const update = failure.details["update"] === "client" ? "client" : "daemon";
			this.change({ at: "outdated", update, reason: failure.message });
		}
	}

	private closed(port: chrome.runtime.Port): void {
		if (this.port !== port) return;
		clearTimeout(this.handshakeTimer);
		this.port = undefined;
		this.failPending();
		this.publishEnd((port as { error?: { message: string } | null }).error?.message ?? this.browser.lastError());
	}

	/** publishEnd publishes why there is no port, and schedules a restart for the endings that a
	 * restart may fix. */
	private publishEnd(words: string | undefined): void {
		if (this.link.at === "outdated") return;
		if (this.link.at === "ready" && this.browser.now() - this.readySince > stableAfter) this.backoff.reset();
		const ended = linkAfterClose(words, () => this.browser.now() + this.backoff.next());
		if (this.hostError && ended.at === "lost" && !this.hostError.data?.retryable) {
			this.change({ at: "refused", error: this.hostError });
			return;
		}
		this.change(this.hostError && ended.at === "lost" ? { ...ended, reason: this.hostError.message } : ended);
		if (ended.at === "lost") this.retry = setTimeout(() => this.open(), ended.retryAt - this.browser.now());
	}

	private failPending(): void {
		for (const id of [...this.pending.keys()]) this.takePending(id)?.reject(new Failure(wireErrorOf("daemon_lost")));
	}

	private takePending(id: number): Pending | undefined {
		const waiting = this.pending.get(id);
		this.pending.delete(id);
		clearTimeout(waiting?.timer);
		return waiting;
	}

	private change(link: Link): void {
		this.link = link;
		this.onLink(link);
	}
}
