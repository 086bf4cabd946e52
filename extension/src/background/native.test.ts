import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Link } from "../wire/link";
import { FakePort } from "../wire/fake-port";
import { recordings } from "../wire/recorded";
import type { Failure } from "../wire/failure";
import { Backoff } from "./backoff";
import { linkAfterClose } from "./link-after-close";
import { Native, wireErrorOf } from "./native";

interface Asked {
	jsonrpc: string;
	id: number;
	method: string;
	params?: unknown;
}

const hello = recordings("host").flatMap((r) => r.events ?? []).find((e) => e.method === "host.hello")!.params as { protocol: { selected: number } };
const greetingOf = { jsonrpc: "2.0", method: "host.hello", params: hello };

function host() {
	const ports: FakePort[] = [];
	const links: Link[] = [];
	const events: [string, unknown][] = [];
	const browser = { connect: vi.fn(() => (ports.push(new FakePort()), ports.at(-1)!.port)), lastError: vi.fn((): string | undefined => undefined), now: () => Date.now() };
	const native = new Native(browser, (link) => links.push(link), (event, params) => events.push([event, params]));
	const port = () => ports.at(-1)!;
	const asked = () => port().last<Asked>();
	/** greet has the daemon send hello and accept the version. */
	const greet = async () => {
		port().deliver(greetingOf);
		port().deliver({ jsonrpc: "2.0", id: asked().id, result: hello });
		await vi.advanceTimersByTimeAsync(0);
	};
	const ready = async () => {
		native.open();
		await greet();
	};
	return { ports, links, events, browser, native, port, asked, greet, ready };
}

/** fate records how a request ends. */
function fate(asked: Promise<unknown>): { is: unknown } {
	const seen: { is: unknown } = { is: "pending" };
	asked.then((result) => (seen.is = result), (failure: Failure) => (seen.is = failure.name));
	return seen;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.useRealTimers();
});

describe("requests", () => {
	it("are JSON-RPC with ids of their own, without params where there are none", async () => {
		const h = host();
		await h.ready();
		const first = h.asked().id;
		void h.native.call("keys.status", {}).catch(() => {});
		expect(h.asked()).toEqual({ jsonrpc: "2.0", id: first + 1, method: "keys.status" });
		void h.native.call("networks.select", { chainId: 10 }).catch(() => {});
		expect(h.asked()).toEqual({ jsonrpc: "2.0", id: first + 2, method: "networks.select", params: { chainId: 10 } });
	});
	it("get the answers of their own ids, in whatever order these come", async () => {
		const h = host();
		await h.ready();
		const onID = vi.fn();
		const a = fate(h.native.call("keys.status", {}, onID));
		const [idA] = onID.mock.calls[0]!;
		const b = fate(h.native.call("networks.list", {}));
		h.port().deliver({ id: h.asked().id, result: "b" });
		await vi.advanceTimersByTimeAsync(0);
		expect([a.is, b.is]).toEqual(["pending", "b"]);
		h.port().deliver({ id: idA, result: "a" });
		await vi.advanceTimersByTimeAsync(0);
		expect(a.is).toBe("a");
	});
	it("are refused by the daemon with all that it says", async () => {
		const h = host();
		await h.ready();
		const asked = h.native.call("swap.execute", { request: "r", digest: "0x" });
		const error = { code: 1407, message: "no gas", data: { name: "insufficient_gas", retryable: false, remedy: "add some", details: { missing: "12" } } };
		h.port().deliver({ id: h.asked().id, error });
		await expect(asked).rejects.toMatchObject({ code: 1407, message: "no gas", name: "insufficient_gas", retryable: false, remedy: "add some", details: { missing: "12" } });
	});
	it("are answered once: a second answer, and one to nobody, change nothing", async () => {
		const h = host();
		await h.ready();
		const a = fate(h.native.call("keys.status", {}));
		h.port().deliver({ id: h.asked().id, result: 1 });
		h.port().deliver({ id: h.asked().id, result: 2 });
		h.port().deliver({ id: 9999, error: wireErrorOf("internal") });
		await vi.advanceTimersByTimeAsync(0);
		expect(a.is).toBe(1);
	});
	it("are not done where the answer says nothing: neither a result nor an error", async () => {
		const h = host();
		await h.ready();
		const a = fate(h.native.call("swap.execute", { request: "r", digest: "0x" }));
		h.port().deliver({ id: h.asked().id });
		await vi.advanceTimersByTimeAsync(0);
		expect(a.is).toBe("internal");
	});
	it("are refused in words and figures alone, whatever the error is made of", async () => {
		const h = host();
		await h.ready();
		const asked = h.native.call("keys.status", {});
		h.port().deliver({ id: h.asked().id, error: { code: "x", message: { a: 1 }, data: { name: 7, retryable: "yes", remedy: [], details: "x" } } });
		await expect(asked).rejects.toMatchObject({ code: -32603, message: "", name: "internal", retryable: false, remedy: "", details: {} });
	});
	it("time out after a little more than the protocol's two minutes", async () => {
		const h = host();
		await h.ready();
		const a = fate(h.native.call("keys.status", {}));
		await vi.advanceTimersByTimeAsync(124_999);
		expect(a.is).toBe("pending");
		await vi.advanceTimersByTimeAsync(1);
		expect(a.is).toBe("timed_out");
		h.port().deliver({ id: h.asked().id, result: "late" });
		expect(h.native.link.at).toBe("ready");
	});
	it("are refused at once while there is no port, and nothing is begun", async () => {
		const h = host();
		const onID = vi.fn();
		const a = fate(h.native.call("keys.status", {}, onID));
		await vi.advanceTimersByTimeAsync(0);
		expect(a.is).toBe("daemon_lost");
		expect(onID).not.toHaveBeenCalled();
	});
	it("are lost with the port, and leave no timer behind", async () => {
		const h = host();
		await h.ready();
		const all = [h.native.call("keys.status", {}), h.native.call("networks.list", {})].map(fate);
		h.port().closeFromOtherEnd("Native host has exited.");
		await vi.advanceTimersByTimeAsync(0);
		expect(all.map((f) => f.is)).toEqual(["daemon_lost", "daemon_lost"]);
		expect(vi.getTimerCount()).toBe(1); // the restart of the host
	});
	it("are lost when the port is closing already", async () => {
		const h = host();
		await h.ready();
		h.port().open = false;
		const a = fate(h.native.call("keys.status", {}));
		await vi.advanceTimersByTimeAsync(0);
		expect(a.is).toBe("daemon_lost");
		expect(vi.getTimerCount()).toBe(0);
	});
});

describe("the greeting", () => {
	it("leads to an agreed version", async () => {
		const h = host();
		h.native.open();
		expect(h.links).toEqual([{ at: "connecting" }]);
		h.port().deliver(greetingOf);
		expect(h.asked()).toMatchObject({ method: "host.hello", params: { protocol: { min: 1, max: 1 } } });
		h.port().deliver({ id: h.asked().id, result: hello });
		await vi.advanceTimersByTimeAsync(0);
		expect(h.native.link).toEqual({ at: "ready", hello });
		expect(vi.getTimerCount()).toBe(0);
	});
	it.each([["client", "client"], ["daemon", "daemon"], [undefined, "daemon"]])("that finds no common version (update: %s) is final", async (update, shown) => {
		const h = host();
		h.native.open();
		h.port().deliver(greetingOf);
		h.port().deliver({ id: h.asked().id, error: { code: 1008, message: "update it", data: { name: "version_mismatch", retryable: false, remedy: "", ...(update ? { details: { update } } : {}) } } });
		await vi.advanceTimersByTimeAsync(0);
		expect(h.native.link).toEqual({ at: "outdated", update: shown, reason: "update it" });
		h.port().closeFromOtherEnd();
		await vi.advanceTimersByTimeAsync(600_000);
		expect(h.native.link.at).toBe("outdated");
		expect(h.ports).toHaveLength(1);
		h.native.open(); // by opening a page: the extension or daemon may have been updated
		expect(h.ports).toHaveLength(2);
	});
	it("is asked for anew of a daemon that spoke another version", async () => {
		const h = host();
		h.native.open();
		h.port().deliver(greetingOf);
		h.port().deliver({ id: h.asked().id, error: wireErrorOf("version_mismatch") });
		await vi.advanceTimersByTimeAsync(0);
		h.native.open();
		expect(h.ports).toHaveLength(1);
		h.native.retryNow();
		expect(h.ports).toHaveLength(2);
		expect(h.ports[0]!.open).toBe(false);
		expect(h.native.link.at).toBe("connecting");
		h.native.retryNow();
		expect(h.ports).toHaveLength(2);
	});
	it("that never comes ends the port after 15 s", async () => {
		const h = host();
		h.native.open();
		await vi.advanceTimersByTimeAsync(14_999);
		expect(h.port().open).toBe(true);
		await vi.advanceTimersByTimeAsync(1);
		expect(h.port().open).toBe(false);
		expect(h.native.link).toMatchObject({ at: "lost", retryAt: Date.now() + 750 });
		await vi.advanceTimersByTimeAsync(750);
		expect(h.ports).toHaveLength(2);
	});
	it.each([["an error", { error: wireErrorOf("busy") }], ["nothing", {}], ["a version that we do not speak", { result: { ...hello, protocol: { min: 7, max: 7, selected: 7 } } }], ["text", { result: "hi" }]])(
		"that is answered with %s does not make us ready",
		async (_, answer) => {
			const h = host();
			h.native.open();
			h.port().deliver(greetingOf);
			h.port().deliver({ id: h.asked().id, ...answer });
			await vi.advanceTimersByTimeAsync(0);
			expect(h.native.link.at).toBe("connecting");
			await vi.advanceTimersByTimeAsync(15_000);
			expect(h.native.link.at).toBe("lost");
		},
	);
	it("of another daemon on the same port: what the first was asked is lost, and the new one is agreed with", async () => {
		const h = host();
		await h.ready();
		const old = fate(h.native.call("swap.execute", { request: "r", digest: "0x" }));
		h.port().deliver(greetingOf);
		await vi.advanceTimersByTimeAsync(0);
		expect(old.is).toBe("daemon_lost");
		const again = { ...hello, instance: "another" };
		h.port().deliver({ id: h.asked().id, result: again });
		await vi.advanceTimersByTimeAsync(0);
		expect(h.links.at(-1)).toEqual({ at: "ready", hello: again });
		expect(h.ports).toHaveLength(1);
	});
	it("of another daemon that then says nothing ends the port", async () => {
		const h = host();
		await h.ready();
		h.port().deliver(greetingOf);
		await vi.advanceTimersByTimeAsync(15_000);
		expect(h.native.link.at).toBe("lost");
	});
	it("that floods keeps one request and one timer", async () => {
		const h = host();
		await h.ready();
		for (let i = 0; i < 1000; i++) h.port().deliver(greetingOf);
		expect(vi.getTimerCount()).toBe(2); // the handshake's, and that of the last request
		h.port().deliver({ id: h.asked().id, result: hello });
		await vi.advanceTimersByTimeAsync(0);
		expect(h.native.link.at).toBe("ready");
	});
	it("leaves what was asked before the first one in place", async () => {
		const h = host();
		h.native.open();
		const early = fate(h.native.call("swap.orders", {}));
		const id = h.asked().id;
		await h.greet();
		h.port().deliver({ id, result: "orders" });
		await vi.advanceTimersByTimeAsync(0);
		expect(early.is).toBe("orders");
	});
});

describe("a host that ends", () => {
	it("is started again after 0.75 s, doubled up to 30 s", async () => {
		const h = host();
		h.native.open();
		for (const wait of [750, 1500, 3000, 6000, 12_000, 24_000, 30_000, 30_000]) {
			const before = h.ports.length;
			h.port().closeFromOtherEnd("Native host has exited.");
			expect(h.native.link).toEqual({ at: "lost", reason: "Native host has exited.", retryAt: Date.now() + wait });
			await vi.advanceTimersByTimeAsync(wait - 1);
			expect(h.ports).toHaveLength(before);
			await vi.advanceTimersByTimeAsync(1);
			expect(h.ports).toHaveLength(before + 1);
		}
	});
	it("that has worked for over 5 s begins with 0.75 s again; one that has not, goes on", async () => {
		const h = host();
		h.native.open();
		for (const wait of [750, 1500]) {
			h.port().closeFromOtherEnd();
			await vi.advanceTimersByTimeAsync(wait);
		}
		await h.greet();
		await vi.advanceTimersByTimeAsync(5_000);
		h.port().closeFromOtherEnd();
		expect(h.native.link).toMatchObject({ retryAt: Date.now() + 3000 });
		await vi.advanceTimersByTimeAsync(3000);
		await h.greet();
		await vi.advanceTimersByTimeAsync(5_001);
		h.port().closeFromOtherEnd();
		expect(h.native.link).toMatchObject({ retryAt: Date.now() + 750 });
	});
	it("is started at once when a page opens, and once only", async () => {
		const h = host();
		h.native.open();
		h.port().closeFromOtherEnd();
		h.native.open();
		h.native.open();
		expect(h.ports).toHaveLength(2);
		h.port().closeFromOtherEnd(); // a new wait starts, instead of the rest of the first
		await vi.advanceTimersByTimeAsync(1_499);
		expect(h.ports).toHaveLength(2);
		await vi.advanceTimersByTimeAsync(1);
		expect(h.ports).toHaveLength(3);
		await vi.advanceTimersByTimeAsync(10_000);
		expect(h.ports).toHaveLength(3);
	});
	it("while it is opened leaves no timer that would end the next port", async () => {
		const h = host();
		h.browser.connect.mockImplementationOnce(() => {
			const port = new FakePort();
			h.ports.push(port);
			port.onDisconnect.addListener = (end) => {
				port.open = false;
				end();
			};
			return port.port;
		});
		h.native.open();
		expect(h.native.link.at).toBe("lost");
		await vi.advanceTimersByTimeAsync(750);
		expect(h.ports).toHaveLength(2);
		await h.greet();
		await vi.advanceTimersByTimeAsync(60_000);
		expect(h.native.link.at).toBe("ready");
	});
	it("is missing where the browser will not even try", () => {
		const h = host();
		h.browser.connect.mockImplementationOnce(() => {
			throw new Error("Invalid native messaging host name specified.");
		});
		h.native.open();
		expect(h.native.link).toEqual({ at: "missing", reason: "Invalid native messaging host name specified." });
	});
	it("says nothing more: messages of a port that was given up are not heard", async () => {
		const h = host();
		await h.ready();
		const [old] = h.ports;
		h.port().closeFromOtherEnd();
		await vi.advanceTimersByTimeAsync(750);
		old!.open = true;
		old!.deliver({ method: "swap.order", params: {} });
		old!.deliver({ id: null, error: wireErrorOf("origin_refused") });
		old!.closeFromOtherEnd("Access to the specified native messaging host is forbidden.");
		expect(h.events).toEqual([]);
		expect(h.native.link.at).toBe("connecting");
	});
});

// As measured, native-messaging.md a.3. Chromium reports it in runtime.lastError, Firefox
// in port.error.
const measured: [browser: "chromium" | "firefox", words: string | null, at: Link["at"]][] = [
	["chromium", "Specified native messaging host not found.", "missing"],
	["chromium", "Access to the specified native messaging host is forbidden.", "forbidden"],
	["chromium", "Invalid native messaging host name specified.", "missing"],
	["chromium", "Native host has exited.", "lost"],
	["chromium", "Error when communicating with the native messaging host.", "lost"],
	["chromium", "Failed to start native messaging host.", "lost"],
	["firefox", "No such native application app.swapkeep.host", "missing"],
	["firefox", "An unexpected error occurred", "missing"],
	["firefox", "Native application tried to send a message of 1886221359 bytes, which exceeds the limit of 1048576 bytes.", "lost"],
	["firefox", null, "lost"],
];

describe("what browsers say of a port that closed", () => {
	it.each(measured)("%s: %s", async (browser, words, at) => {
		const h = host();
		h.native.open();
		if (browser === "chromium") {
			h.browser.lastError.mockReturnValue(words ?? undefined);
			h.port().closeFromOtherEnd();
		} else {
			h.port().closeFromOtherEnd(words);
		}
		expect(h.native.link).toMatchObject({ at, reason: words ?? "" });
		await vi.advanceTimersByTimeAsync(600_000);
		expect(h.ports.length > 1).toBe(at === "lost"); // not retried where that cannot help
	});
	it("asks for the time of the next start only where there is one", () => {
		const retryAt = vi.fn(() => 5);
		expect(linkAfterClose("Specified native messaging host not found.", retryAt)).toEqual({ at: "missing", reason: "Specified native messaging host not found." });
		expect(retryAt).not.toHaveBeenCalled();
		expect(linkAfterClose(undefined, retryAt)).toEqual({ at: "lost", reason: "", retryAt: 5 });
	});
});

describe("a complaint before the end", () => {
	const complaint = (name: Parameters<typeof wireErrorOf>[0]) => ({ jsonrpc: "2.0", id: null, error: wireErrorOf(name) });
	it.each(["daemon_lost", "database_full", "database_locked"] as const)("%s may pass: the host is started again, and the reason is told", async (name) => {
		const h = host();
		h.native.open();
		h.port().deliver(complaint(name));
		h.port().closeFromOtherEnd("Native host has exited.");
		expect(h.native.link).toEqual({ at: "lost", reason: wireErrorOf(name).message, retryAt: Date.now() + 750 });
		await vi.advanceTimersByTimeAsync(750);
		expect(h.native.link.at).toBe("connecting");
	});
	it.each(["origin_refused", "database_readonly", "database_newer"] as const)("%s stays: nothing is started until somebody asks", async (name) => {
		const h = host();
		h.native.open();
		h.port().deliver(complaint(name));
		h.port().closeFromOtherEnd();
		expect(h.native.link).toEqual({ at: "refused", error: wireErrorOf(name) });
		await vi.advanceTimersByTimeAsync(600_000);
		expect(h.ports).toHaveLength(1);
		h.native.open();
		expect(h.native.link.at).toBe("connecting");
		h.port().closeFromOtherEnd();
		expect(h.native.link.at).toBe("lost"); // the complaint belonged to the port before
	});
	it("that meant a single message is forgotten with the next", async () => {
		const h = host();
		await h.ready();
		h.port().deliver(complaint("bad_json"));
		h.port().deliver({ method: "tokens.changed", params: { chainId: 1 } });
		h.port().closeFromOtherEnd();
		expect(h.native.link.at).toBe("lost");
	});
	it("does not hide that the browser forbids the host", () => {
		const h = host();
		h.native.open();
		h.port().deliver(complaint("daemon_lost"));
		h.port().closeFromOtherEnd("No such native application app.swapkeep.host");
		expect(h.native.link.at).toBe("missing");
	});
});

describe("notifications", () => {
	it("are handed on, and hello is not one of them", async () => {
		const h = host();
		await h.ready();
		h.port().deliver({ method: "gas.price", params: { chainId: 1 } });
		expect(h.events).toEqual([["gas.price", { chainId: 1 }]]);
	});
	it.each([[null], [undefined], [0], ["text"], [[]], [{}], [{ id: "1", result: 1 }], [{ id: 1 }], [{ id: null }], [{ id: 1.5, error: "x" }]])("garbage harms nothing: %j", async (garbage) => {
		const h = host();
		await h.ready();
		expect(() => h.port().deliver(garbage)).not.toThrow();
		expect(h.native.link.at).toBe("ready");
		const a = fate(h.native.call("keys.status", {}));
		h.port().deliver({ id: h.asked().id, result: "fine" });
		await vi.advanceTimersByTimeAsync(0);
		expect(a.is).toBe("fine");
	});
});

it("refusal is of the protocol's table", () => {
	expect(wireErrorOf("locked", "it is locked")).toMatchObject({ code: 1101, message: "it is locked", data: { name: "locked", retryable: false } });
});

it("Backoff doubles from 0.75 s to 30 s and begins again", () => {
	const b = new Backoff();
	expect(Array.from({ length: 8 }, () => b.next())).toEqual([750, 1500, 3000, 6000, 12_000, 24_000, 30_000, 30_000]);
	b.reset();
	expect(b.next()).toBe(750);
});
