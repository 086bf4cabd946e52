import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakePort } from "../wire/fake-port";
import { fuzzed, fuzzTimeout } from "../wire/fuzzed";
import { handlers, type HandlerName } from "./handlers/index";
import { maxVersion } from "../wire/protocol";
import { Native } from "./native";
import { Pages } from "./pages";

const origin = "chrome-extension://abcdefghijklmnopabcdefghijklmnop";
const self = { id: "abcdefghijklmnopabcdefghijklmnop", origin };
const own: chrome.runtime.MessageSender = { id: self.id, origin, url: `${origin}/popup.html`, frameId: 0 };
const names = Object.keys(handlers) as HandlerName[];

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.useRealTimers();
});

/** background wires Native and Pages as main.ts does, to a host that accepted the version. */
async function background() {
	const host = new FakePort();
	const native: Native = new Native({ connect: () => host.port, lastError: () => undefined, now: () => Date.now() }, (link) => pages.linkChanged(link), (event, params) => pages.notify(event, params));
	const pages: Pages = new Pages(native, self);
	native.open();
	host.deliver({ method: "host.hello", params: {} });
	host.deliver({ id: host.last<{ id: number }>().id, result: { protocol: { selected: maxVersion } } });
	await vi.advanceTimersByTimeAsync(0);
	host.posted = [];
	const page = (name: string) => {
		const port = new FakePort(name, own);
		pages.accept(port.port);
		return port;
	};
	return { host, page, calls: host.posted as { id: number; method: string; params?: unknown }[] };
}

const read = (text: string): { value: unknown } | undefined => {
	try {
		return { value: JSON.parse(text) };
	} catch {
		return undefined;
	}
};

it("serve a page's request, whatever it is, only within its port: its methods, its own provider", async () => {
	await fuzzed(import.meta.dirname, "requests", async (text, dice) => {
		const request = read(text);
		if (!request) return;
		const name = names[dice(names.length)]!;
		const b = await background();
		const port = b.page(name);
		port.deliver(request.value);
		await vi.advanceTimersByTimeAsync(0);
		for (const { id, method, params } of b.calls) {
			b.host.deliver({ id, result: {} });
			expect(handlers[name].methods).toContain(method);
			if (method === "swap.quote" && name !== "compare") expect(params).toMatchObject({ providers: [name] });
			if (method === "swap.quote" && name === "compare") expect(params).toMatchObject({ watch: false });
		}
		await vi.advanceTimersByTimeAsync(0);
		const answers = port.posted.filter((m) => !("link" in (m as object)));
		expect(answers).toHaveLength(typeof request.value === "object" && request.value !== null ? 1 : 0);
		port.closeFromOtherEnd();
		vi.clearAllTimers(); // of this background; otherwise each run also waits for the timers of all runs before
	});
}, fuzzTimeout);

it("take whatever a daemon tells, with a page open and without, and hand it to those that listen to it", async () => {
	await fuzzed(import.meta.dirname, "events", async (text, dice) => {
		const said = read(text)?.value as { method?: unknown; params?: unknown } | null | undefined;
		if (typeof said !== "object" || said === null) return;
		const b = await background();
		const ports = dice(2) === 0 ? [] : names.map((name) => b.page(name));
		b.host.deliver(said);
		await vi.advanceTimersByTimeAsync(0);
		for (const port of ports) {
			const heard = port.posted.filter((m) => "event" in (m as object));
			expect(heard.length).toBeLessThanOrEqual(1);
			if (port.name === "compare") expect(heard).toEqual([]);
			if (said.method === "swap.order" && port.name !== "shell" && heard.length) expect(said.params).toMatchObject({ terms: { provider: port.name } });
		}
		for (const call of b.calls) expect([call.method, ports.length]).toEqual(["gas.watch", 0]);
		vi.clearAllTimers();
	});
}, fuzzTimeout);
