import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Failure, type WireError } from "../wire/failure";
import { FakePort } from "../wire/fake-port";
import type { Link } from "../wire/link";
import type { Events, Methods, Order, Quoted } from "../wire/protocol";
import { resultOf } from "../wire/recorded";
import { handlerOf } from "./handlers/index";
import { Native } from "./native";
import { isOwnPage, Pages } from "./pages";

const origin = "chrome-extension://abcdefghijklmnopabcdefghijklmnop";
const self = { id: "abcdefghijklmnopabcdefghijklmnop", origin };
const own: chrome.runtime.MessageSender = { id: self.id, origin, url: `${origin}/popup.html`, frameId: 0 };

describe("ours", () => {
	it.each<[string, chrome.runtime.MessageSender | undefined, boolean]>([
		["the popup", own, true],
		["a tab of ours", { ...own, url: `${origin}/popup.html?view=tab`, tab: { id: 3 } as chrome.tabs.Tab }, true],
		["a popup without a frame id", { id: self.id, origin, url: `${origin}/popup.html` }, true],
		["a popup of a browser that tells no origin", { id: self.id, url: `${origin}/popup.html` }, true],
		["nobody", undefined, false],
		["an empty sender", {}, false],
		["another extension", { ...own, id: "ponmlkjihgfedcbaponmlkjihgfedcba" }, false],
		["another extension with our address", { ...own, id: "ponmlkjihgfedcbaponmlkjihgfedcba", url: `${origin}/popup.html` }, false],
		["a web page's content script with our id", { id: self.id, origin: "https://evil.example", url: "https://evil.example/", frameId: 0 }, false],
		["a content script that tells no origin", { id: self.id, url: "https://evil.example/", frameId: 0 }, false],
		["a tab of another origin with our id", { id: self.id, origin: "https://evil.example", url: `${origin}/popup.html` }, false],
		["an address that only begins like ours", { id: self.id, url: `${origin}.evil.example/popup.html` }, false],
		["an opaque origin", { id: self.id, origin: "null", url: `${origin}/popup.html` }, false],
		["a blob of ours", { id: self.id, url: `blob:${origin}/6f1f0a6f` }, false],
		["an address that cannot be read", { id: self.id, url: "::" }, false],
		["a page of ours in a web page's frame", { ...own, frameId: 7 }, false],
	])("%s", (_, sender, want) => expect(isOwnPage(sender, self)).toBe(want));
});

type Call = { method: keyof Methods; params: unknown; answer(result: unknown): void; refuse(error: WireError): void };

function background(link: Link = { at: "ready", hello: {} as never }) {
	const calls: Call[] = [];
	let id = 100;
	const native = {
		link,
		open: vi.fn(),
		retryNow: vi.fn(),
		call: (method: keyof Methods, params: unknown, onID?: (id: number) => void) =>
			new Promise((resolve, reject) => {
				onID?.(id++);
				calls.push({ method, params, answer: resolve, refuse: (error) => reject(new Failure(error)) });
			}),
	};
	const pages = new Pages(native as unknown as Native, self);
	const page = (name: string, sender: chrome.runtime.MessageSender = own) => {
		const port = new FakePort(name, sender);
		pages.accept(port.port);
		return port;
	};
	const sent = (method: keyof Methods) => calls.filter((c) => c.method === method);
	return { pages, native, calls, page, sent };
}

const settle = () => vi.advanceTimersByTimeAsync(0);
const said = (port: FakePort) => port.posted.filter((m) => !("link" in (m as object)));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.useRealTimers();
});

describe("a port", () => {
	it.each(["shell", "compare", "dex", "bridge", "intent", "gasless"])("named %s is served and told of the link", (name) => {
		const b = background();
		expect(b.page(name).posted).toEqual([{ link: b.native.link }]);
		expect(b.pages.open).toBe(true);
	});
	it.each(["", "nobody", "toString", "__proto__", "constructor", "Shell"])("named %j is refused", (name) => {
		const b = background();
		const port = b.page(name);
		expect([port.open, port.posted, b.pages.open]).toEqual([false, [], false]);
	});
	it("of a stranger is refused without a word, and starts nothing", () => {
		const b = background({ at: "connecting" });
		const port = b.page("shell", { id: self.id, origin: "https://evil.example", url: "https://evil.example/" });
		port.open = true;
		port.deliver({ id: 1, method: "keys.status" });
		expect(port.posted).toEqual([]);
		expect(b.native.open).not.toHaveBeenCalled();
		const nobody = new FakePort("shell", {});
		b.pages.accept(nobody.port);
		expect([nobody.open, b.pages.open]).toEqual([false, false]);
		expect(b.calls).toEqual([]);
	});
	it("has the host looked for while there is none", () => {
		const b = background({ at: "missing", reason: "" });
		b.page("shell");
		expect(b.native.open).toHaveBeenCalledOnce();
		const ready = background();
		ready.page("shell");
		expect(ready.native.open).not.toHaveBeenCalled();
	});
	it("is told when the link changes, as long as it is there", () => {
		const b = background();
		const [one, other] = [b.page("shell"), b.page("dex")];
		other.closeFromOtherEnd();
		b.pages.linkChanged({ at: "lost", reason: "", retryAt: 1 });
		expect(one.last()).toEqual({ link: { at: "lost", reason: "", retryAt: 1 } });
		expect(other.posted).toHaveLength(1);
	});
	it("that closes while something is posted to it disturbs nobody", () => {
		const b = background();
		const [closing, other] = [b.page("shell"), b.page("shell")];
		closing.open = false;
		expect(() => b.pages.notify("tokens.changed", { chainId: 1 })).not.toThrow();
		expect(said(other)).toEqual([{ event: "tokens.changed", params: { chainId: 1 } }]);
	});
});

describe("a request", () => {
	it("gets its answer under the page's own id", async () => {
		const b = background();
		const port = b.page("shell");
		port.deliver({ id: 7, method: "keys.status" });
		expect(b.calls[0]).toMatchObject({ method: "keys.status", params: {} });
		b.calls[0]!.answer({ state: "locked" });
		await settle();
		expect(port.last()).toEqual({ id: 7, result: { state: "locked" } });
	});
	it("of two pages with the same id gets each its own answer", async () => {
		const b = background();
		const [one, other] = [b.page("shell"), b.page("shell")];
		for (const p of [one, other]) p.deliver({ id: 1, method: "keys.status", params: {} });
		b.calls[1]!.answer("other");
		b.calls[0]!.answer("one");
		await settle();
		expect([one.last(), other.last()]).toEqual([{ id: 1, result: "one" }, { id: 1, result: "other" }]);
	});
	it("is refused with all that the daemon said", async () => {
		const b = background();
		const port = b.page("shell");
		const error = { code: 1432, message: "in use", data: { name: "allowance_in_use", retryable: false, remedy: "wait", details: { order: "o1", share: "5" } } };
		port.deliver({ id: 1, method: "approvals.revoke", params: {} });
		b.calls[0]!.refuse(error);
		await settle();
		expect(port.last()).toEqual({ id: 1, error });
	});
	it.each<[string, string]>([
		["shell", "host.hello"], ["shell", "swap.quote"], ["shell", "swap.prepare"], ["shell", "swap.execute"], ["shell", "swap.watch"], ["shell", "host.attach"],
		["shell", "keys.export"], ["shell", "toString"], ["compare", "swap.prepare"], ["compare", "swap.execute"], ["compare", "swap.watch"], ["compare", "keys.status"],
		["dex", "keys.unlock"], ["dex", "keys.import"], ["dex", "settings.set"], ["bridge", "approvals.revoke"], ["intent", "host.hello"], ["gasless", "networks.select"],
	])("through %s for %s reaches nobody", async (name, method) => {
		const b = background();
		const port = b.page(name);
		port.deliver({ id: 1, method, params: {} });
		await settle();
		expect(port.last()).toMatchObject({ id: 1, error: { code: -32601, data: { name: "unknown_method" } } });
		expect(b.calls).toEqual([]);
	});
	it("link.retry looks for the host", async () => {
		const b = background();
		const port = b.page("shell");
		port.deliver({ id: 1, method: "link.retry", params: {} });
		await settle();
		expect(b.native.retryNow).toHaveBeenCalledOnce();
		expect(port.last()).toEqual({ id: 1, result: {} });
	});
	it.each<[string, string, object, object]>([
		["dex", "swap.quote", { providers: ["bridge", "gasless"], amountIn: "1" }, { providers: ["dex"], amountIn: "1" }],
		["intent", "swap.quote", {}, { providers: ["intent"] }],
		["bridge", "swap.destinations", { provider: "intent" }, { provider: "bridge" }],
		["intent", "tokens.list", { chainId: 5, provider: "bridge" }, { chainId: 5, provider: "intent" }],
		["compare", "swap.quote", { watch: true, amountIn: "1" }, { watch: false, amountIn: "1" }],
		["dex", "swap.prepare", { offer: "o" }, { offer: "o" }],
	])("through %s for %s of another is narrowed", async (name, method, params, want) => {
		const b = background();
		b.page(name).deliver({ id: 1, method, params });
		await settle();
		expect(b.calls[0]).toMatchObject({ method, params: want });
	});
	it("whose page is gone meanwhile is answered to nobody", async () => {
		const b = background();
		const port = b.page("dex");
		port.deliver({ id: 1, method: "swap.execute", params: { request: "r", digest: "0x" } });
		port.closeFromOtherEnd();
		b.calls[0]!.answer({});
		await settle();
		expect(said(port)).toEqual([]);
		expect(b.calls).toHaveLength(1);
	});
});

describe("notifications", () => {
	const order = resultOf<Order>("swap", "execute");
	const of = (provider: string) => ({ ...order, terms: { ...order.terms, provider } }) as Order;
	it.each<[keyof Events, unknown, string[]]>([
		["keys.changed", { state: "locked", cause: "locked" }, ["shell"]],
		["networks.changed", { active: 1 }, ["shell"]],
		["gas.price", { chainId: 1 }, ["shell", "dex", "bridge", "intent", "gasless"]],
		["swap.order", of("bridge"), ["shell", "bridge"]],
		["swap.order", of("wallet"), ["shell"]],
	])("%s reach who hears them", (event, params, want) => {
		const b = background();
		const ports = ["shell", "compare", "dex", "bridge", "intent", "gasless"].map((name) => b.page(name));
		b.pages.notify(event, params as never);
		expect(ports.filter((p) => said(p).length > 0).map((p) => p.name)).toEqual(want);
	});
	it("of gas are stopped at the daemon while nobody looks", () => {
		const b = background();
		b.page("shell").closeFromOtherEnd();
		b.pages.notify("gas.price", { chainId: 8453 } as Events["gas.price"]);
		expect(b.calls).toMatchObject([{ method: "gas.watch", params: { chainId: 8453, stop: true } }]);
	});
	it("that tell nothing, or too little, are told to nobody who would need it", async () => {
		const host = new FakePort();
		const native: Native = new Native({ connect: () => host.port, lastError: () => undefined, now: () => 0 }, () => {}, (event, params) => pages.notify(event, params));
		const pages = new Pages(native, self);
		native.open();
		for (const params of [undefined, null, 7]) host.deliver({ method: "gas.price", params }); // while no page is open
		expect(host.posted).toEqual([]);
		const dex = new FakePort("dex", own);
		pages.accept(dex.port);
		for (const params of [undefined, null, {}, { terms: null }]) host.deliver({ method: "swap.order", params });
		expect(said(dex)).toEqual([]);
	});
	it("of a newer daemon's own names reach the shell alone", () => {
		expect(handlerOf("shell")!.wantsEvent("swap.dreamt" as never, {} as never)).toBe(true);
		expect(handlerOf("dex")!.wantsEvent("swap.dreamt" as never, {} as never)).toBe(false);
	});
});

describe("offers", () => {
	const quoted = (call: number) => ({ call, provider: "dex", offers: [], done: true, order: [] }) as Quoted;
	const ask = async (port: FakePort, id: number, watch: boolean) => {
		port.deliver({ id, method: "swap.quote", params: { amountIn: "1", ...(watch ? { watch } : {}) } });
		await settle();
	};
	it("reach the page that asked, by the id that it gave", async () => {
		const b = background();
		const [dex, bridge] = [b.page("dex"), b.page("bridge")];
		await ask(dex, 4, false);
		await ask(bridge, 4, false);
		b.pages.notify("swap.quoted", quoted(101));
		expect(said(dex)).toEqual([]);
		expect(said(bridge)).toEqual([{ event: "swap.quoted", params: { ...quoted(101), call: 4 } }]);
		b.pages.notify("swap.quoted", quoted(999));
		expect(said(bridge)).toHaveLength(1);
	});
	it("of a quote that is not watched end with its answer", async () => {
		const b = background();
		const port = b.page("dex");
		await ask(port, 1, false);
		b.calls[0]!.answer({ offers: [] });
		await settle();
		b.pages.notify("swap.quoted", quoted(100));
		expect(said(port)).toEqual([{ id: 1, result: { offers: [] } }]);
	});
	it("of one that is watched go on, until the page asks for another", async () => {
		const b = background();
		const port = b.page("dex");
		await ask(port, 1, true);
		b.calls[0]!.answer({ offers: [] });
		await settle();
		b.pages.notify("swap.quoted", quoted(100));
		expect(port.last()).toEqual({ event: "swap.quoted", params: { ...quoted(100), call: 1 } });
		await ask(port, 2, true);
		const before = port.posted.length;
		b.pages.notify("swap.quoted", quoted(100));
		expect(port.posted).toHaveLength(before);
	});
	it("go to the page that asked last; the one before is told, and may not stop or prolong it", async () => {
		const b = background();
		const [one, other] = [b.page("dex"), b.page("dex")];
		await ask(one, 1, true);
		b.calls[0]!.answer({ offers: [] });
		await ask(other, 1, true);
		expect(said(one)).toContainEqual({ event: "watch.taken" });
		expect(said(other)).toEqual([]);
		const before = b.calls.length;
		for (const params of [{}, { stop: true }]) one.deliver({ id: 9, method: "swap.watch", params });
		await settle();
		expect(one.last()).toEqual({ id: 9, result: { watching: false } });
		one.closeFromOtherEnd();
		expect(b.calls).toHaveLength(before);
		other.deliver({ id: 2, method: "swap.watch", params: {} });
		expect(b.calls.at(-1)).toMatchObject({ method: "swap.watch", params: {} });
	});
	it("are stopped when their page closes, or asks for it, and no second time", async () => {
		const b = background();
		const port = b.page("dex");
		await ask(port, 1, true);
		port.deliver({ id: 2, method: "swap.watch", params: { stop: true } });
		await settle();
		expect(b.sent("swap.watch")).toMatchObject([{ params: { stop: true } }]);
		port.closeFromOtherEnd();
		expect(b.sent("swap.watch")).toHaveLength(1);
		const next = b.page("dex");
		b.sent("swap.watch")[0]!.answer({ watching: false });
		await ask(next, 1, true);
		next.closeFromOtherEnd();
		expect(b.sent("swap.watch").at(-1)).toMatchObject({ params: { stop: true } });
		b.sent("swap.watch").at(-1)!.refuse({ code: 1, message: "" }); // the rejection must be caught
		await settle();
	});
	it("are not stopped at a daemon that is not there", async () => {
		const b = background();
		const port = b.page("dex");
		await ask(port, 1, true);
		b.native.link = { at: "lost", reason: "", retryAt: 0 };
		port.closeFromOtherEnd();
		expect(b.sent("swap.watch")).toEqual([]);
	});
	it("are asked for at once, also while an older quote is under way: the daemon watches the newer one", async () => {
		const b = background();
		const [one, other] = [b.page("dex"), b.page("dex")];
		await ask(one, 1, true);
		await ask(other, 1, true);
		expect(b.calls.map((c) => c.method)).toEqual(["swap.quote", "swap.quote"]);
		b.calls[0]!.refuse({ code: 1409, message: "", data: { name: "quote_unknown", retryable: false, remedy: "" } });
		b.calls[1]!.answer({ offers: [] });
		await settle();
		expect(one.last()).toMatchObject({ id: 1, error: { data: { name: "quote_unknown" } } });
		expect(other.last()).toEqual({ id: 1, result: { offers: [] } });
		other.deliver({ id: 2, method: "swap.watch", params: {} });
		expect(b.calls.at(-1)).toMatchObject({ method: "swap.watch", params: {} });
	});
	it("of a thousand quotes leave nothing behind", async () => {
		const b = background();
		for (let i = 0; i < 1000; i++) {
			const port = b.page("dex");
			await ask(port, 1, i % 2 === 0);
			for (const c of b.calls.splice(0)) c.answer({ offers: [] });
			await settle();
			port.closeFromOtherEnd();
			for (const c of b.calls.splice(0)) c.answer({ watching: false });
			await settle();
		}
		const { watches } = b.pages as unknown as { watches: { asking: Map<number, unknown> } };
		expect([b.pages.open, watches.asking.size]).toEqual([false, 0]);
	});
});
