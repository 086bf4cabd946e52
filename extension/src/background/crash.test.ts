// Tests pages, background and daemon together while parts of them fail: browsers end the
// background, people close windows, daemons are killed.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openChannel } from "../state/channel";
import { execute } from "../swap/consent";
import { type Failure, failureOf } from "../wire/failure";
import { FakePort } from "../wire/fake-port";
import type { Link } from "../wire/link";
import type { Order } from "../wire/protocol";
import { recordings } from "../wire/recorded";
import type { HandlerName } from "./handlers/index";
import { Native, wireErrorOf } from "./native";
import { Pages } from "./pages";

const origin = "chrome-extension://abcdefghijklmnopabcdefghijklmnop";
const self = { id: "abcdefghijklmnopabcdefghijklmnop", origin };
const hello = recordings("host").flatMap((r) => r.events ?? []).find((e) => e.method === "host.hello")!.params;

interface Asked {
	id: number;
	method: string;
	params: { request: string; digest: string; order: string };
}

/** world has one daemon, whose orders (book) survive restarts, and a background that can be
 * ended. */
function world() {
	const book: Order[] = [];
	const executions: Asked["params"][] = [];
	let answering = true;
	let hosts: FakePort[] = [];
	let background: { native: Native; pages: Pages } | undefined;
	let windows: FakePort[] = [];

	const acts: Record<string, (p: Asked["params"]) => unknown> = {
		"host.hello": () => hello,
		"swap.orders": () => ({ orders: [...book].reverse() }),
		"swap.order": (p) => ({ order: book.find((o) => o.id === p.order), history: [] }),
		"swap.execute": (p) => {
			executions.push(p);
			const before = book.find((o) => o.digest === p.digest);
			if (before?.request === p.request) return before;
			if (before) throw { ...wireErrorOf("plan_executed"), data: { ...wireErrorOf("plan_executed").data, details: { order: before.id } } };
			const order = { id: `o${book.length + 1}`, request: p.request, digest: p.digest, terms: { provider: "dex" } } as Order;
			book.push(order);
			return order;
		},
	};
	function connect(): chrome.runtime.Port {
		const host = new FakePort("app.swapkeep.host");
		hosts.push(host);
		host.onPost = (m) => {
			const { id, method, params } = m as Asked;
			let answer: object;
			try {
				answer = { id, result: acts[method]!(params) };
			} catch (error) {
				answer = { id, error };
			}
			if (answering || method === "host.hello") queueMicrotask(() => host.deliver(answer));
		};
		queueMicrotask(() => host.deliver({ method: "host.hello", params: hello }));
		return host.port;
	}
	function start() {
		const native: Native = new Native({ connect, lastError: () => undefined, now: () => Date.now() }, (link) => background?.pages.linkChanged(link), (e, p) => background?.pages.notify(e, p));
		background = { native, pages: new Pages(native, self) };
		return background;
	}
	/** runtimeConnect returns a window's port; each end sees the other disconnect. */
	function runtimeConnect(name: string): chrome.runtime.Port {
		const here = new FakePort(name);
		const there = new FakePort(name, { id: self.id, origin, url: `${origin}/popup.html`, frameId: 0 });
		here.onPost = (m) => queueMicrotask(() => there.deliver(m));
		there.onPost = (m) => queueMicrotask(() => here.deliver(m));
		const leave = here.disconnect.bind(here);
		here.disconnect = () => (leave(), there.closeFromOtherEnd());
		windows.push(here);
		(background ?? start()).pages.accept(there.port);
		return here.port;
	}
	return {
		book, executions,
		open: (name: HandlerName = "dex") => openChannel(name, () => runtimeConnect(name)),
		/** The daemon still acts on requests, but sends no answers. */
		mute: () => void (answering = false),
		unmute: () => void (answering = true),
		/** The browser ends the background, which closes all its ports. */
		endBackground() {
			background = undefined;
			for (const h of hosts.splice(0)) h.open = false;
			for (const w of windows.splice(0)) w.closeFromOtherEnd();
		},
		/** The daemon is killed, and the relay connects to the next one. */
		restartDaemon() {
			answering = true;
			hosts.at(-1)!.deliver({ method: "host.hello", params: hello });
		},
		endHost: () => hosts.at(-1)!.closeFromOtherEnd("Native host has exited."),
		host: () => hosts.at(-1)!,
		hosts: () => hosts.length,
		pages: () => background!.pages,
		link: (): Link => background!.native.link,
		/** Requests are dropped before they reach the daemon. */
		deafen: () => void (hosts.at(-1)!.onPost = undefined),
	};
}

type World = ReturnType<typeof world>;

const consent = (request: string, digest = "0xd") => ({ review: { digest }, acknowledged: [], request });
function end(asked: Promise<Order>): { is: unknown } {
	const seen: { is: unknown } = { is: "pending" };
	asked.then((order) => (seen.is = order.id), (f: Failure) => (seen.is = failureOf(f).name));
	return seen;
}
const settle = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.clearAllTimers();
	vi.useRealTimers();
});

describe("consent and its answer", () => {
	/** given opens a window for a minute, runs `before`, consents to a plan, then runs
	 * `meets` while the consent is pending. told returns how the consent ended, with the
	 * number of orders and of executions. */
	async function given(w: World, before: () => void, meets: () => void, ms = 0) {
		const page = w.open();
		await settle(60_000);
		before();
		const e = end(execute(page, consent("r")));
		await settle();
		meets();
		await settle(ms);
		return { page, e, told: () => [e.is, w.book.length, w.executions.length] };
	}
	const none = () => {};

	it("in peace", async () => {
		const { told } = await given(world(), none, none);
		expect(told()).toEqual(["o1", 1, 1]);
	});
	it("with the background ended between: the order is found, and there is one", async () => {
		const w = world();
		const { told } = await given(w, w.mute, () => (w.endBackground(), w.unmute()), 5_000);
		expect(told()).toEqual(["o1", 1, 1]);
	});
	it("with the background ended before the daemon had it: told as lost, and no order", async () => {
		const w = world();
		const { told } = await given(w, w.deafen, w.endBackground, 10_000);
		expect(told()).toEqual(["daemon_lost", 0, 0]);
	});
	it("with the daemon killed between, on the same port: the order is found", async () => {
		const w = world();
		const { told } = await given(w, w.mute, w.restartDaemon, 5_000);
		expect([...told(), w.hosts()]).toEqual(["o1", 1, 1, 1]);
	});
	it("with the host ended between: the order is found on the next port", async () => {
		const w = world();
		const { told } = await given(w, w.mute, () => (w.endHost(), w.unmute()), 5_000);
		expect([...told(), w.hosts()]).toEqual(["o1", 1, 1, 2]);
	});
	it("with an answer that never comes: the order is found when the time has run out", async () => {
		const w = world();
		const { told } = await given(w, w.mute, w.unmute, 125_000);
		expect(told()).toEqual(["o1", 1, 1]);
	});
	it("given again after a lost answer, under another uuid, leads to the same order", async () => {
		const w = world();
		const { page } = await given(w, none, none);
		const again = end(execute(page, consent("r2")));
		await settle();
		expect([again.is, w.book.length]).toEqual(["o1", 1]);
	});
	it("by two windows at once to one plan makes one order, which both show", async () => {
		const w = world();
		const [one, other] = [end(execute(w.open(), consent("r"))), end(execute(w.open(), consent("s")))];
		await settle();
		expect([one.is, other.is, w.book.length]).toEqual(["o1", "o1", 1]);
	});
	it("of a window that is closed goes on, and the next window finds the order", async () => {
		const w = world();
		const { page, e } = await given(w, w.mute, none);
		page.close();
		w.unmute();
		await settle(70_000);
		expect(e.is).toBe("daemon_lost"); // the rejection reaches no page: the window is closed
		const { orders } = await w.open("shell").call("swap.orders", {});
		expect(orders.map((o) => o.request)).toEqual(["r"]);
		expect(w.executions).toHaveLength(1);
	});
});

describe("windows", () => {
	it("are told of connecting and ready when the background comes back", async () => {
		const w = world();
		const links: string[] = [];
		const page = w.open("shell");
		page.onLink((l) => links.push(l.at));
		await settle(60_000);
		expect(links.at(-1)).toBe("ready");
		links.splice(0);
		w.endBackground();
		await settle();
		expect([...new Set(links)]).toEqual(["connecting", "ready"]);
	});
	it("that open and close a thousand times leave one port to the host and no page", async () => {
		const w = world();
		for (let i = 0; i < 1000; i++) w.open("shell").close();
		await settle();
		expect([w.hosts(), w.pages().open, vi.getTimerCount()]).toEqual([1, false, 0]);
	});
	it("get a flood of notifications whole and in order", async () => {
		const w = world();
		const seen: number[] = [];
		w.open("shell").on("tokens.changed", ({ chainId }) => seen.push(chainId));
		await settle();
		for (let i = 0; i < 5000; i++) w.host().deliver({ method: "tokens.changed", params: { chainId: i } });
		await settle();
		expect(seen).toEqual(Array.from({ length: 5000 }, (_, i) => i));
	});
	it("hear of a host that does not greet, and of its return", async () => {
		const w = world();
		w.open("shell");
		w.host().onPost = undefined; // so the version handshake fails
		await settle(15_000);
		expect(w.link().at).toBe("lost");
		await settle(750);
		expect(w.link().at).toBe("ready");
	});
});
