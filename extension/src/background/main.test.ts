import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakePort } from "../wire/fake-port";
import { FakeSession } from "./fake-session";

const id = "abcdefghijklmnopabcdefghijklmnop";
const own = { id, origin: `chrome-extension://${id}`, url: `chrome-extension://${id}/popup.html`, frameId: 0 };

/** start runs the background against a fake browser. */
async function start(session = new FakeSession()) {
	const listeners: Record<string, (port?: chrome.runtime.Port) => void> = {};
	const event = (name: string) => ({ addListener: (listener: (port?: chrome.runtime.Port) => void) => void (listeners[name] = listener) });
	const native: FakePort[] = [];
	const setBadgeText = vi.fn(async () => {});
	vi.stubGlobal("chrome", {
		runtime: {
			id,
			getURL: (path: string) => `chrome-extension://${id}/${path}`,
			connectNative: (name: string) => (native.push(new FakePort(name)), native.at(-1)!.port),
			onConnect: event("connect"),
			onStartup: event("startup"),
			onInstalled: event("installed"),
		},
		storage: { session },
		action: { setBadgeText, setBadgeBackgroundColor: async () => {} },
	});
	vi.resetModules();
	await import("./main");
	await settle();
	return { listeners, native, setBadgeText, session };
}

const ended = { jsonrpc: "2.0", method: "swap.order", params: { id: "o", state: "filled", final: true, ended: true, terms: { provider: "dex" } } };

const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

it("starts the host with the browser, once, and by its name", async () => {
	const { listeners, native } = await start();
	expect(native).toHaveLength(0);
	listeners["startup"]!();
	listeners["installed"]!();
	expect(native.map((p) => p.name)).toEqual(["app.swapkeep.host"]);
});

it("marks an order that ends while no page is open, until it was looked at", async () => {
	const { listeners, native, setBadgeText, session } = await start();
	listeners["startup"]!();
	native[0]!.deliver(ended);
	await settle();
	expect(setBadgeText).toHaveBeenLastCalledWith({ text: "1" });
	const page = new FakePort("shell", own);
	listeners["connect"]!(page.port);
	await settle();
	expect(setBadgeText).toHaveBeenLastCalledWith({ text: "1" }); // the page may be on another screen
	await session.set({ ended: {} });
	expect(setBadgeText).toHaveBeenLastCalledWith({ text: "" });
	native[0]!.deliver(ended);
	await settle();
	expect(page.last()).toMatchObject({ event: "swap.order" });
	expect(setBadgeText).toHaveBeenLastCalledWith({ text: "" }); // an open page shows it itself
});

it("marks what a background before it heard", async () => {
	const { session } = await start();
	await session.set({ ended: { a: true, b: true } });
	expect((await start(session)).setBadgeText).toHaveBeenLastCalledWith({ text: "2" });
});

it("tells its pages of the link", async () => {
	const { listeners, native } = await start();
	const page = new FakePort("shell", own);
	listeners["connect"]!(page.port);
	native[0]!.closeFromOtherEnd("No such native application app.swapkeep.host");
	expect(page.last()).toEqual({ link: { at: "missing", reason: "No such native application app.swapkeep.host" } });
});
