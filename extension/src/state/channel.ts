import type { Events, Methods } from "../wire/protocol";
import type { HandlerName } from "../background/handlers/index";
import type { Link } from "../wire/link";
import type { PageMessage } from "../wire/page";
import { Failure, type WireError } from "../wire/failure";
import { isObject } from "../wire/object";
import { Backoff } from "../background/backoff";

type Listeners = { [E in keyof Events]?: Set<(params: Events[E]) => void> };

/** A Channel is this page's port to one handler of the background. It reconnects when the browser
 * has ended the background; pending requests then fail with daemon_lost and may be repeated. */
export interface Channel {
	/** call sends a request to the daemon; it rejects with a Failure. What waits for a person
	 * outside the browser is sent again, with its uuid, until it is decided. onID gets the
	 * request's id, which swap.quoted refers to. */
	call<M extends keyof Methods>(method: M, params: Methods[M]["params"], onID?: (id: number) => void): Promise<Methods[M]["result"]>;
	/** on adds a listener to a notification and returns a function that removes it. */
	on<E extends keyof Events>(event: E, listener: (params: Events[E]) => void): () => void;
	/** onWatchTaken listens for another page taking over the watch. */
	onWatchTaken(listener: () => void): () => void;
	onLink(listener: (link: Link) => void): () => void;
	/** retry has the background look for the host now. */
	retry(): void;
	close(): void;
}

/** A background that served this long, in ms, was ended by the browser rather than crashing
 * at its start, so the port is reopened without backoff. */
const stableAfter = 5_000;

const lost: WireError = { code: 1009, message: "swapkeep went away", data: { name: "daemon_lost", retryable: true, remedy: "try again" } };

export function openChannel(name: HandlerName, connect = () => chrome.runtime.connect({ name })): Channel {
	const waiting = new Map<number, { resolve(result: never): void; reject(failure: Failure): void }>();
	const listeners: Listeners = Object.create(null) as Listeners; // no prototype, as names come from outside
	const links = new Set<(link: Link) => void>();
	const taken = new Set<() => void>();
	let nextID = 1;
	let closed = false;
	let port: chrome.runtime.Port | undefined;
	let again: ReturnType<typeof setTimeout> | undefined;
	const backoff = new Backoff();

	function heard(message: PageMessage | null): void {
		if (!isObject(message)) return;
		if ("id" in message) {
			const asked = waiting.get(message.id);
			waiting.delete(message.id);
			if ("error" in message) asked?.reject(new Failure(message.error));
			else asked?.resolve(message.result as never);
		} else if ("link" in message) {
			for (const listener of [...links]) listener(message.link);
		} else if (message.event === "watch.taken") {
			for (const listener of taken) listener();
		} else if (typeof message.event === "string") {
			for (const listener of listeners[message.event] ?? []) (listener as (params: unknown) => void)(message.params);
		}
	}

	function lose(): void {
		for (const asked of waiting.values()) asked.reject(new Failure(lost));
		waiting.clear();
	}

	function open(): void {
		const opened = connect();
		const since = Date.now();
		port = opened;
		opened.onMessage.addListener(heard);
		opened.onDisconnect.addListener(() => {
			if (closed || port !== opened) return;
			port = undefined;
			lose();
			for (const listener of [...links]) listener({ at: "connecting" });
			if (Date.now() - since < stableAfter) {
				again = setTimeout(open, backoff.next());
				return;
			}
			backoff.reset();
			open();
		});
	}
	open();

	const ask = (method: string, params: unknown, onID?: (id: number) => void) =>
		new Promise<never>((resolve, reject) => {
			const id = nextID++;
			onID?.(id);
			waiting.set(id, { resolve, reject });
			try {
				if (!port) throw new Error("no port");
				port.postMessage({ id, method, params });
			} catch {
				waiting.delete(id);
				reject(new Failure(lost)); // the port is closing; onDisconnect follows
			}
		});
	const decided: Channel["call"] = async (method, params, onID) => {
		for (;;) {
			try {
				return await ask(method, params, onID);
			} catch (thrown) {
				if (!(thrown instanceof Failure && thrown.is("confirmation_pending"))) throw thrown;
			}
		}
	};
	const join = <T>(set: Set<T>, member: T) => {
		set.add(member);
		return () => void set.delete(member);
	};
	return {
		call: decided,
		on: (event, listener) => join((listeners[event] ??= new Set() as never) as Set<unknown>, listener),
		onWatchTaken: (listener) => join(taken, listener),
		onLink: (listener) => join(links, listener),
		retry: () => void ask("link.retry", {}).catch(() => {}), // on failure a new port is opened, which looks for the host too
		close() {
			closed = true;
			clearTimeout(again);
			port?.disconnect();
			port = undefined;
			lose();
		},
	};
}
