import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Order } from "../wire/protocol";
import { FakeSession } from "./fake-session";

const order = (id: string, state: Order["state"], ended = true) => ({ id, state, ended }) as Order;
const settle = () => new Promise((done) => setTimeout(done));

let session: FakeSession;

beforeEach(() => {
	session = new FakeSession();
	vi.stubGlobal("chrome", { storage: { session } });
});
afterEach(() => void vi.unstubAllGlobals());

/** begin starts a background or a page; `told` collects what its listener was called with. */
async function begin() {
	vi.resetModules();
	const { recordEnded, onUnseenChanged, markSeen } = await import("./unseen-orders");
	const told: unknown[] = [];
	onUnseenChanged((ended) => told.push(ended));
	await settle();
	return { recordEnded, markSeen, told };
}

it("keeps each order that ended, once, and none that goes on", async () => {
	const { recordEnded, told } = await begin();
	recordEnded(order("a", "executing", false));
	recordEnded(order("b", "filled"));
	recordEnded(order("c", "failed"));
	recordEnded(order("b", "filled"));
	await settle();
	expect([told[0], told.at(-1)]).toEqual([{}, { b: true, c: false }]);
});

it("takes only the change that ended an order for news, not what comes back afterwards", async () => {
	const { recordEnded, markSeen, told } = await begin();
	const filled: Order = { ...order("a", "filled"), updated: "2026-11-20T09:01:00Z", endedAt: "2026-11-20T09:01:00Z" };
	const returned: Order = { ...filled, updated: "2026-11-20T09:05:00Z", isolation: { returned: [{ token: "0x1", amount: "5", tx: "0x2" }] } };
	recordEnded(returned); // it ended while a page was open
	await settle();
	expect(told.at(-1)).toEqual({});
	recordEnded(filled);
	await settle();
	expect(told.at(-1)).toEqual({ a: true });
	markSeen(["a"]);
	recordEnded(returned);
	await settle();
	expect(told.at(-1)).toEqual({});
	recordEnded({ ...order("b", "closed"), updated: "2026-11-20T09:01:00Z", endedAt: "2026-11-20T09:01:00Z" });
	markSeen(["b"]);
	recordEnded({ ...order("b", "filled"), updated: "2026-11-20T09:05:00Z", endedAt: "2026-11-20T09:05:00Z" }); // proven after all
	await settle();
	expect(told.at(-1)).toEqual({ b: true });
});

it("goes on counting after the browser ended the background", async () => {
	(await begin()).recordEnded(order("a", "filled"));
	await settle();
	const after = await begin();
	expect(after.told).toEqual([{ a: true }]);
	after.recordEnded(order("b", "filled"));
	await settle();
	expect(after.told.at(-1)).toEqual({ a: true, b: true });
});

it("forgets in one window what was looked at in another", async () => {
	const [background, page] = [await begin(), await begin()];
	background.recordEnded(order("a", "filled"));
	background.recordEnded(order("b", "failed"));
	await settle();
	page.markSeen(["b", "of another time"]);
	await settle();
	expect(background.told.at(-1)).toEqual({ a: true });
});

it("tells of nothing where nothing can be kept, or something else was", async () => {
	session.held["ended"] = { a: true, b: "yes" };
	expect((await begin()).told).toEqual([{ a: true }]);
	session.held["ended"] = "all";
	expect((await begin()).told).toEqual([{}]);
	session.get = () => Promise.reject(new Error("corrupt"));
	session.set = () => Promise.reject(new Error("quota"));
	const { recordEnded, told } = await begin();
	recordEnded(order("a", "filled"));
	await settle(); // an unhandled rejection would fail the run
	expect(told).toEqual([{}]);
});
