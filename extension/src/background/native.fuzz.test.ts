import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakePort } from "../wire/fake-port";
import { fuzzed, fuzzTimeout } from "../wire/fuzzed";
import type { Link } from "../wire/link";
import { recordings } from "../wire/recorded";
import { Failure } from "../wire/failure";
import { Native } from "./native";

const hello = recordings("host").flatMap((r) => r.events ?? []).find((e) => e.method === "host.hello")!.params;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.useRealTimers();
});

/** parsed returns a text as the browser would deliver it; undefined for invalid JSON, which
 * never arrives. */
function parsed(text: string): { message: unknown } | undefined {
	try {
		return { message: JSON.parse(text) };
	} catch {
		return undefined;
	}
}

it("takes whatever a host says: a request ends once, by its own id, and well only by a result", async () => {
	await fuzzed(import.meta.dirname, "native", async (text) => {
		const came = parsed(text);
		if (!came) return;
		const port = new FakePort();
		const links: Link[] = [];
		const events: [string, unknown][] = [];
		const native = new Native({ connect: () => port.port, lastError: () => undefined, now: () => Date.now() }, (l) => links.push(l), (e, p) => events.push([e, p]));
		native.open();
		port.deliver({ jsonrpc: "2.0", method: "host.hello", params: hello });
		port.deliver({ jsonrpc: "2.0", id: port.last<{ id: number }>().id, result: hello });
		await vi.advanceTimersByTimeAsync(0);
		expect(native.link.at).toBe("ready");
		let asked = 0;
		const ends: unknown[] = [];
		native.call("keys.status", {}, (id) => (asked = id)).then((result) => ends.push({ result }), (f: Failure) => ends.push(f));
		port.deliver(came.message);
		await vi.advanceTimersByTimeAsync(0);
		const said = came.message as { id?: unknown; method?: unknown; params?: unknown; result?: unknown; error?: unknown } | null;
		const own = typeof said === "object" && said !== null && said.id === asked;
		const again = typeof said === "object" && said !== null && said.id === undefined && said.method === "host.hello";
		if (!own && !again) expect(ends).toEqual([]);
		if (own) expect(ends).toHaveLength(1);
		for (const end of ends) {
			if (end instanceof Failure) expect([typeof end.name, typeof end.message, typeof end.retryable, typeof end.remedy, typeof end.details]).toEqual(["string", "string", "boolean", "string", "object"]);
			else expect(said).toMatchObject({ result: (end as { result: unknown }).result });
		}
		for (const [event, params] of events) {
			expect([typeof event, typeof params]).toEqual(["string", "object"]);
			expect(params).not.toBeNull();
		}
		port.closeFromOtherEnd();
		for (const link of links) expect(typeof link.at).toBe("string");
		expect(["lost", "refused", "missing", "forbidden"]).toContain(native.link.at);
		vi.clearAllTimers(); // of this host; otherwise each run also waits for the timers of all runs before
	});
}, fuzzTimeout);
