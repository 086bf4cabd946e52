import type { Events, Methods } from "../wire/protocol";
import type { HandlerName } from "../background/handlers/index";
import type { Link } from "../wire/link";
import type { PageMessage } from "../wire/page";
import { Failure, type WireError } from "../wire/failure";
import { isObject } from "../wire/object";
import { Backoff } from "../background/backoff";

type Hearers = { [E in keyof Events]?: Set<(params: Events[E]) => void> };

/** A Channel is this page's port to one handler of the background. It comes back
 * by itself when the browser ended the background, and what was asked is then
 * refused as daemon_lost, to be asked again. */
export interface Channel {
	/** call asks the daemon; it rejects with a Failure. begun is told the request's id,
	 * by which swap.quoted names it. */
	call<M extends keyof Methods>(method: M, params: Methods[M]["params"], begun?: (id: number) => void): Promise<Methods[M]["result"]>;
	/** on listens to a notification, until the function that it returns is called. */
	on<E extends keyof Events>(event: E, hear: (params: Events[E]) => void): () => void;
	/** onTaken listens for the watch having gone to another page. */
	onTaken(hear: () => void): () => void;
	onLink(hear: (link: Link) => void): () => void;
	/** retry has the background look for the host now. */
	retry(): void;
	close(): void;
}

/** A background that served this long was ended by the browser, and does not end at
 * every start, in ms. */
const steady = 5_000;

const lost: WireError = { code: 1009, message: "swapkeep went away", data: { name: "daemon_lost", retryable: true, remedy: "try again" } };

export function openChannel(name: HandlerName, connect = () => chrome.runtime.connect({ name })): Channel {
	const waiting = new Map<number, { resolve(result: never): void; reject(failure: Failure): void }>();
	const hearers: Hearers = Object.create(null) as Hearers; // by names from outside
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
			for (const hear of [...links]) hear(message.link);
		} else if (message.event === "watch.taken") {
			for (const hear of taken) hear();
		} else if (typeof message.event === "string") {
			for (const hear of hearers[message.event] ?? []) (hear as (params: unknown) => void)(message.params);
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
			for (const hear of [...links]) hear({ at: "connecting" });
			if (Date.now() - since < steady) {
				again = setTimeout(open, backoff.next());
				return;
			}
			backoff.reset();
			open();
		});
	}
	open();

	const ask = (method: string, params: unknown, begun?: (id: number) => void) =>
		new Promise<never>((resolve, reject) => {
			const id = nextID++;
			begun?.(id);
			waiting.set(id, { resolve, reject });
			try {
				if (!port) throw new Error("no port");
				port.postMessage({ id, method, params });
			} catch {
				waiting.delete(id);
				reject(new Failure(lost)); // it is closing: its onDisconnect follows
			}
		});
	const join = <T>(set: Set<T>, member: T) => {
		set.add(member);
		return () => void set.delete(member);
	};
	return {
		call: ask,
		on: (event, hear) => join((hearers[event] ??= new Set() as never) as Set<unknown>, hear),
		onTaken: (hear) => join(taken, hear),
		onLink: (hear) => join(links, hear),
		retry: () => void ask("link.retry", {}).catch(() => {}), // a new port has the host looked for too
		close() {
			closed = true;
			clearTimeout(again);
			port?.disconnect();
			port = undefined;
			lose();
		},
	};
}
