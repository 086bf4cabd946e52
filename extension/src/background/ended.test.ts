import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { Order } from "../wire/protocol";
import { FakeSession } from "./fake-session";

const order = (id: string, state: Order["state"], final = true) => ({ id, state, final }) as Order;
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
	const { noteEnd, onEnded, seeEnds } = await import("./ended");
	const told: unknown[] = [];
	onEnded((ended) => told.push(ended));
	await settle();
	return { noteEnd, seeEnds, told };
}

it("keeps each order that ended, once, and none that goes on", async () => {
	const { noteEnd, told } = await begin();
	noteEnd(order("a", "executing", false));
	noteEnd(order("b", "filled"));
	noteEnd(order("c", "failed"));
	noteEnd(order("b", "filled"));
	await settle();
	expect([told[0], told.at(-1)]).toEqual([{}, { b: true, c: false }]);
});

it("goes on counting after the browser ended the background", async () => {
	(await begin()).noteEnd(order("a", "filled"));
	await settle();
	const after = await begin();
	expect(after.told).toEqual([{ a: true }]);
	after.noteEnd(order("b", "filled"));
	await settle();
	expect(after.told.at(-1)).toEqual({ a: true, b: true });
});

it("forgets in one window what was looked at in another", async () => {
	const [background, page] = [await begin(), await begin()];
	background.noteEnd(order("a", "filled"));
	background.noteEnd(order("b", "failed"));
	await settle();
	page.seeEnds(["b", "of another time"]);
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
	const { noteEnd, told } = await begin();
	noteEnd(order("a", "filled"));
	await settle(); // an unhandled rejection would fail the run
	expect(told).toEqual([{}]);
});
