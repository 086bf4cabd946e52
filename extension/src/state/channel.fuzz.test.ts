import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakePort } from "../wire/fake-port";
import { fuzzed, fuzzTimeout } from "../wire/fuzzed";
import { openChannel } from "./channel";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.useRealTimers();
});

it("takes whatever comes: only its own answer ends a request, and each hearer hears its own event", async () => {
	await fuzzed(import.meta.dirname, "channel", async (text) => {
		let message: unknown;
		try {
			message = JSON.parse(text);
		} catch {
			return;
		}
		const port = new FakePort("shell");
		const channel = openChannel("shell", () => port.port);
		const ends: string[] = [];
		let id = 0;
		channel.call("keys.status", {}, (given) => (id = given)).then(() => ends.push("answered"), () => ends.push("refused"));
		const heard: string[] = [];
		channel.on("swap.order", () => heard.push("swap.order"));
		channel.on("gas.price", () => heard.push("gas.price"));
		channel.onWatchTaken(() => heard.push("watch.taken"));
		channel.onLink(() => heard.push("link"));
		port.deliver(message);
		await vi.advanceTimersByTimeAsync(0);
		const m = (typeof message === "object" && message !== null ? message : {}) as Record<string, unknown>;
		expect(ends).toEqual(Object.hasOwn(m, "id") && m["id"] === id ? [Object.hasOwn(m, "error") ? "refused" : "answered"] : []);
		expect(heard.length).toBeLessThanOrEqual(1);
		for (const event of heard) expect([m["event"], Object.hasOwn(m, "link") && "link"]).toContain(event);
		channel.close();
		await vi.advanceTimersByTimeAsync(0);
		expect(ends).toHaveLength(1);
	});
}, fuzzTimeout);
