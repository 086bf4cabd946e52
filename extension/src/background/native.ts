import { type ErrorName, errors, type Events, type Hello, maxVersion, type Methods, minVersion } from "../wire/protocol";
import type { Link } from "../wire/link";
import { Failure, failureOf, type WireError } from "../wire/failure";
import { isObject } from "../wire/object";
import { Backoff } from "./backoff";
import { closing } from "./closing";

/** HOST never changes: browsers find the host's manifest by it. */
export const HOST = "app.swapkeep.host";

/** A host that worked this long has not just crashed again, in ms. */
const steady = 5_000;

/** Requests are answered within two minutes by the protocol, or not at all: a
 * browser drops a frame that it cannot read without a word. */
const patience = 125_000;

/** The daemon greets first; a host that does not is no host of ours, in ms. */
const greeting = 15_000;

/** What native needs of the browser, so that a test can stand in for it. */
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

/** refusal is an error of the protocol's table that the extension itself found. */
export function refusal(name: ErrorName, message?: string): WireError {
	const row = errors[name];
	return { code: row.code, message: message ?? row.means, data: { name, retryable: row.retryable, remedy: row.remedy } };
}

function agreed(hello: Hello | undefined): boolean {
	const version = hello?.protocol?.selected;
	return typeof version === "number" && version >= minVersion && version <= maxVersion;
}

/** Native is the one port to the host, for all pages: it numbers requests, matches
 * answers, and starts a host that ended again, ever more slowly. It keeps nothing
 * of what passes. */
export class Native {
	private port: chrome.runtime.Port | undefined;
	private pending = new Map<number, Pending>();
	private nextID = 1;
	private backoff = new Backoff();
	private retry: ReturnType<typeof setTimeout> | undefined;
	private greeted: ReturnType<typeof setTimeout> | undefined;
	private met = false;
	private readySince = 0;
	private complaint: WireError | undefined;
	link: Link = { at: "connecting" };

	constructor(
		private readonly browser: Browser,
		private readonly onLink: (link: Link) => void,
		private readonly onEvent: <E extends keyof Events>(event: E, params: Events[E]) => void,
	) {}

	/** open connects unless it is connected. Pages ask for it when they open. */
	open(): void {
		if (this.port) return;
		clearTimeout(this.retry);
		this.complaint = undefined;
		this.met = false;
		this.change({ at: "connecting" });
		let port: chrome.runtime.Port;
		try {
			port = this.browser.connect();
		} catch (thrown) {
			this.ended(failureOf(thrown).message);
			return;
		}
		this.port = port;
		this.awaitGreeting(port);
		port.onMessage.addListener((message: Incoming) => this.port === port && this.heard(port, message));
		port.onDisconnect.addListener(() => this.closed(port));
	}

	/** retryNow is open for somebody who asks for it: of a daemon that spoke another
	 * version it is asked anew what it speaks now. */
	retryNow(): void {
		const { port } = this;
		if (port && this.link.at === "outdated") {
			port.disconnect();
			this.closed(port);
		}
		this.open();
	}

	private awaitGreeting(port: chrome.runtime.Port): void {
		clearTimeout(this.greeted);
		this.greeted = setTimeout(() => {
			port.disconnect();
			this.closed(port);
		}, greeting);
	}

	/** call asks the daemon. It rejects with a Failure: daemon_lost when the port
	 * closes first; an act may then be repeated with its request uuid. begun is told
	 * the request's id, by which swap.quoted names it. */
	call<M extends keyof Methods>(method: M, params: Methods[M]["params"], begun?: (id: number) => void): Promise<Methods[M]["result"]> {
		return new Promise((resolve, reject) => {
			if (!this.port) {
				reject(new Failure(refusal("daemon_lost", "swapkeep is not running")));
				return;
			}
			const id = this.nextID++;
			begun?.(id);
			const timer = setTimeout(() => this.settle(id)?.reject(new Failure(refusal("timed_out"))), patience);
			this.pending.set(id, { resolve: resolve as (result: unknown) => void, reject, timer });
			const empty = params === undefined || Object.keys(params).length === 0;
			try {
				this.port.postMessage({ jsonrpc: "2.0", id, method, ...(empty ? {} : { params }) });
			} catch {
				this.settle(id)?.reject(new Failure(refusal("daemon_lost"))); // it is closing: its onDisconnect follows
			}
		});
	}

	private heard(port: chrome.runtime.Port, message: Incoming | null): void {
		if (!isObject(message)) return;
		// The port closes after most complaints; one that went on meant a single message.
		this.complaint = message.id === null ? message.error : undefined;
		if (message.id === null) return;
		if (message.id === undefined) {
			if (message.method === "host.hello") void this.hello(port);
			else if (typeof message.method === "string" && isObject(message.params)) this.onEvent(message.method, message.params);
			return; // what tells nothing is told to nobody
		}
		const waiting = this.settle(message.id);
		if (!waiting) return;
		if (message.error) waiting.reject(new Failure(message.error));
		else if (message.result === undefined) waiting.reject(new Failure(refusal("internal", "the answer has neither a result nor an error")));
		else waiting.resolve(message.result);
	}

	/** The daemon is there, or there again after a restart: agree on a version. What
	 * the one before was asked stays unanswered. */
	private async hello(port: chrome.runtime.Port): Promise<void> {
		if (this.met) this.lose();
		this.met = true;
		this.awaitGreeting(port);
		try {
			const hello = await this.call("host.hello", { protocol: { min: minVersion, max: maxVersion } });
			if (!agreed(hello)) return; // no daemon of ours: its time runs out
			clearTimeout(this.greeted);
			this.readySince = this.browser.now();
			this.change({ at: "ready", hello });
		} catch (thrown) {
			const failure = thrown as Failure;
			if (!failure.is("version_mismatch")) return; // the port closes, or its time runs out
			clearTimeout(this.greeted);
			const update = failure.details["update"] === "client" ? "client" : "daemon";
			this.change({ at: "outdated", update, reason: failure.message });
		}
	}

	private closed(port: chrome.runtime.Port): void {
		if (this.port !== port) return;
		clearTimeout(this.greeted);
		this.port = undefined;
		this.lose();
		this.ended((port as { error?: { message: string } | null }).error?.message ?? this.browser.lastError());
	}

	/** ended tells why there is no port, and tries again where that may help. */
	private ended(words: string | undefined): void {
		if (this.link.at === "outdated") return;
		if (this.link.at === "ready" && this.browser.now() - this.readySince > steady) this.backoff.reset();
		const ended = closing(words, () => this.browser.now() + this.backoff.next());
		if (this.complaint && ended.at === "lost" && !this.complaint.data?.retryable) {
			this.change({ at: "refused", error: this.complaint });
			return;
		}
		this.change(this.complaint && ended.at === "lost" ? { ...ended, reason: this.complaint.message } : ended);
		if (ended.at === "lost") this.retry = setTimeout(() => this.open(), ended.retryAt - this.browser.now());
	}

	private lose(): void {
		for (const id of [...this.pending.keys()]) this.settle(id)?.reject(new Failure(refusal("daemon_lost")));
	}

	private settle(id: number): Pending | undefined {
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
