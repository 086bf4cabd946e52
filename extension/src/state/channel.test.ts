import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FakePort } from "../wire/fake-port";
import type { Link } from "../wire/link";
import type { Failure } from "../wire/failure";
import { openChannel } from "./channel";

function page() {
	const ports: FakePort[] = [];
	const channel = openChannel("shell", () => (ports.push(new FakePort("shell")), ports.at(-1)!.port));
	return { channel, ports, port: () => ports.at(-1)! };
}

const name = (asked: Promise<unknown>) => asked.then(() => "answered", (f: Failure) => f.name);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.useRealTimers();
});

describe("a request", () => {
	it("is answered by its id, in any order", async () => {
		const { channel, port } = page();
		const ids: number[] = [];
		const a = channel.call("keys.status", {}, (id) => ids.push(id));
		const b = channel.call("networks.list", {}, (id) => ids.push(id));
		expect(port().posted).toEqual([{ id: ids[0], method: "keys.status", params: {} }, { id: ids[1], method: "networks.list", params: {} }]);
		port().deliver({ id: ids[1], result: "b" });
		port().deliver({ id: ids[0], error: { code: 1101, message: "locked", data: { name: "locked", retryable: false, remedy: "unlock", details: { a: "1" } } } });
		await expect(b).resolves.toBe("b");
		await expect(a).rejects.toMatchObject({ name: "locked", remedy: "unlock", details: { a: "1" } });
	});
	it("is lost with the background, to be asked again", async () => {
		const { channel, port } = page();
		const all = [channel.call("keys.status", {}), channel.call("swap.execute", { request: "r", digest: "0x" })].map(name);
		port().closeFromOtherEnd();
		expect(await Promise.all(all)).toEqual(["daemon_lost", "daemon_lost"]);
	});
	it("is not sent twice when the background comes back: whoever asked decides", async () => {
		const { channel, port, ports } = page();
		const asked = name(channel.call("swap.execute", { request: "r", digest: "0x" }));
		await vi.advanceTimersByTimeAsync(10_000);
		port().closeFromOtherEnd();
		await asked;
		expect(ports).toHaveLength(2);
		expect(port().posted).toEqual([]);
	});
	it("is lost on a port that is closing, and between two ports", async () => {
		const { channel, port } = page();
		port().open = false;
		expect(await name(channel.call("keys.status", {}))).toBe("daemon_lost");
		port().open = true;
		port().closeFromOtherEnd();
		expect(await name(channel.call("keys.status", {}))).toBe("daemon_lost");
	});
	it("has an id that no port before had", async () => {
		const { channel, port } = page();
		const first = name(channel.call("keys.status", {}));
		const { id } = port().last<{ id: number }>();
		await vi.advanceTimersByTimeAsync(10_000);
		port().closeFromOtherEnd();
		await first;
		void name(channel.call("keys.status", {}));
		expect(port().last<{ id: number }>().id).toBeGreaterThan(id);
		port().deliver({ id, result: "of before" }); // must be ignored
	});
});

describe("a background that ends", () => {
	it("is connected to at once when it had served, and what was listened to goes on", async () => {
		const { channel, port, ports } = page();
		const links: Link[] = [];
		const heard = vi.fn();
		channel.onLink((link) => links.push(link));
		channel.on("tokens.changed", heard);
		await vi.advanceTimersByTimeAsync(60_000);
		port().closeFromOtherEnd();
		expect(ports).toHaveLength(2);
		expect(links).toEqual([{ at: "connecting" }]);
		port().deliver({ event: "tokens.changed", params: { chainId: 1 } });
		expect(heard).toHaveBeenCalledWith({ chainId: 1 });
	});
	it("again and again is connected to ever more slowly", async () => {
		const { port, ports } = page();
		for (const wait of [750, 1500, 3000, 6000, 12_000, 24_000, 30_000, 30_000]) {
			const before = ports.length;
			port().closeFromOtherEnd();
			await vi.advanceTimersByTimeAsync(wait - 1);
			expect(ports).toHaveLength(before);
			await vi.advanceTimersByTimeAsync(1);
			expect(ports).toHaveLength(before + 1);
		}
		await vi.advanceTimersByTimeAsync(5_000);
		port().closeFromOtherEnd(); // it had served for 5 s
		port().closeFromOtherEnd(); // this one had not
		await vi.advanceTimersByTimeAsync(750);
		expect(ports).toHaveLength(11);
	});
});

describe("what is heard", () => {
	it("goes to those who listen, until they stop", () => {
		const { channel, port } = page();
		const heard = { event: vi.fn(), taken: vi.fn(), link: vi.fn() };
		const forget = [channel.on("gas.price", heard.event), channel.onWatchTaken(heard.taken), channel.onLink(heard.link)];
		const say = () => {
			port().deliver({ event: "gas.price", params: { chainId: 1 } });
			port().deliver({ event: "watch.taken" });
			port().deliver({ link: { at: "connecting" } });
		};
		say();
		for (const f of forget) f();
		say();
		expect(heard.event.mock.calls).toEqual([[{ chainId: 1 }]]);
		expect(heard.taken).toHaveBeenCalledOnce();
		expect(heard.link.mock.calls).toEqual([[{ at: "connecting" }]]);
	});
	it("by nobody is no error", () => {
		const { port } = page();
		expect(() => port().deliver({ event: "swap.dreamt", params: {} })).not.toThrow();
	});
	it("may stop listening while it hears", () => {
		const { channel, port } = page();
		const other = vi.fn();
		const forget = channel.onLink(() => forget());
		channel.onLink(other);
		port().deliver({ link: { at: "connecting" } });
		expect(other).toHaveBeenCalledOnce();
	});
});

describe("retry", () => {
	it("asks the background, and is no unhandled rejection when that goes away", async () => {
		const { channel, port } = page();
		channel.retry();
		expect(port().last()).toMatchObject({ method: "link.retry" });
		port().closeFromOtherEnd();
		await vi.advanceTimersByTimeAsync(0);
	});
});

describe("close", () => {
	it("ends the port, what was asked, and any return", async () => {
		const { channel, port, ports } = page();
		const asked = name(channel.call("keys.status", {}));
		channel.close();
		expect(await asked).toBe("daemon_lost");
		expect(port().open).toBe(false);
		expect(await name(channel.call("keys.status", {}))).toBe("daemon_lost");
		await vi.advanceTimersByTimeAsync(60_000);
		expect(ports).toHaveLength(1);
	});
	it("ends the wait for the next port", async () => {
		const { channel, port, ports } = page();
		port().closeFromOtherEnd();
		channel.close();
		await vi.advanceTimersByTimeAsync(60_000);
		expect(ports).toHaveLength(1);
	});
});
