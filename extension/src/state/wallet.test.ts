import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { wireErrorOf } from "../background/native";
import { Failure } from "../wire/failure";
import { FakePort } from "../wire/fake-port";
import type { Account, Events, Methods, Order } from "../wire/protocol";
import { resultOf } from "../wire/recorded";
import { openChannel } from "./channel";
import { NATIVE } from "./network-data";
import { withOrder } from "./orders";
import { createWallet, type Wallet } from "./wallet";

interface Asked {
	id: number;
	method: keyof Methods;
	params: Record<string, unknown>;
}

const hello = {} as never;
const account = (address: string): Account => ({ address, name: address, wallet: "w" });
const [a, b] = [account("0xA"), account("0xB")];
const order = (id: string, created: number, revision = 1, ended = false): Order => ({ id, created: `2026-01-0${created}T00:00:00Z`, revision, ended }) as Order;

/** window returns a page's wallet with a fake daemon, whose answers can be held back. */
function window(stored: Record<string, unknown> = {}) {
	const daemon: { [M in keyof Methods]?: (params: Record<string, unknown>) => unknown } = {
		"keys.status": () => ({ state: "unlocked", session: true }),
		"keys.accounts": () => ({ accounts: [a, b] }),
		"networks.list": () => ({ active: 1, networks: [{ chainId: 1 }, { chainId: 10 }] }),
		"swap.providers": () => resultOf("swap", "providers"),
		"swap.orders": () => ({ orders: [] }),
		"settings.get": () => ({ settings: [{ key: "swap.slippage", value: "0.5" }] }),
		"tokens.balances": (p) => ({ account: p["account"], chainId: p["chainId"], balances: [{ token: NATIVE, amount: `${p["account"]}@${p["chainId"]}` }] }),
		"prices.list": (p) => ({ chainId: p["chainId"], prices: [{ token: "0xToKeN", usd: String(p["chainId"]) }] }),
		"gas.watch": (p) => ({ chainId: p["chainId"], watching: true, price: { chainId: p["chainId"] } }),
		"networks.select": (p) => ({ active: p["chainId"] }),
	};
	vi.stubGlobal("document", { visibilityState: "visible" });
	const set = vi.fn(async () => {});
	vi.stubGlobal("chrome", { storage: { local: { get: async (key: string) => ({ [key]: stored[key] }), set }, session: { get: async () => ({}), set } } });
	const held: Asked[] = [];
	const holding = new Set<keyof Methods>();
	const port = new FakePort("shell");
	const answer = ({ id, method, params }: Asked) => {
		const played = daemon[method];
		if (played) port.deliver({ id, result: played(params) });
		else port.deliver({ id, error: { code: 1011, message: "", data: { name: "timed_out", retryable: true, remedy: "" } } });
	};
	const asked: Asked[] = [];
	port.onPost = (m) => {
		const message = m as Asked;
		asked.push(message);
		if (holding.has(message.method)) held.push(message);
		else queueMicrotask(() => answer(message));
	};
	const wallet = createWallet(openChannel("shell", () => port.port));
	const tell = <E extends keyof Events>(event: E, params: unknown) => port.deliver({ event, params });
	const ready = () => port.deliver({ link: { at: "ready", hello } });
	/** hold keeps back the answers to a method; release returns the requests that were held. */
	const hold = (method: keyof Methods) => void holding.add(method);
	const release = (method: keyof Methods) => {
		holding.delete(method);
		return held.filter((h) => h.method === method);
	};
	const count = (method: keyof Methods) => asked.filter((x) => x.method === method).length;
	return { wallet, daemon, port, tell, ready, hold, release, answer, asked, count, set };
}

const settle = () => vi.advanceTimersByTimeAsync(0);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
	vi.clearAllTimers();
	vi.useRealTimers();
	vi.unstubAllGlobals();
});

describe("withOrder", () => {
	const ids = (orders: readonly Order[]) => orders.map((o) => `${o.id}${o.revision}`);
	it("keeps the newest first", () => {
		const all = [order("b", 2), order("d", 4), order("a", 1), order("c", 3)].reduce(withOrder, [] as readonly Order[]);
		expect(ids(all)).toEqual(["d1", "c1", "b1", "a1"]);
	});
	it("keeps the higher revision, in whichever order two arrive", () => {
		expect(ids([order("a", 1, 2), order("a", 1, 3)].reduce(withOrder, []))).toEqual(["a3"]);
		expect(ids([order("a", 1, 3), order("a", 1, 2)].reduce(withOrder, []))).toEqual(["a3"]);
		const before = [order("a", 1, 3)];
		expect(withOrder(before, order("a", 1, 2))).toBe(before);
	});
	it("takes a record that can no longer be read, and what it was once it can", () => {
		const lost = { ...order("a", 1, 0), state: "unreadable" } as Order;
		expect(withOrder([order("a", 1, 3)], lost)).toEqual([lost]);
		expect(ids(withOrder([lost], order("a", 1, 3)))).toEqual(["a3"]);
	});
	it("keeps an order's place when it changes", () => {
		const all = [order("a", 1), order("b", 2), order("c", 3)].reduce(withOrder, [] as readonly Order[]);
		expect(ids(withOrder(all, order("b", 2, 7)))).toEqual(["c1", "b7", "a1"]);
	});
	it("keeps both of the same moment", () => expect(ids([order("a", 1), order("b", 1)].reduce(withOrder, [] as readonly Order[]))).toEqual(["a1", "b1"]));
});

describe("prices", () => {
	it("are read page by page, of all tokens of the network, and not without end", async () => {
		const w = window();
		w.daemon["prices.list"] = (p) => ({ chainId: p["chainId"], prices: [{ token: `0x${p["cursor"] ?? 0}`, usd: "1" }], cursor: String(Number(p["cursor"] ?? 0) + 1) });
		w.ready();
		await settle();
		expect([...w.wallet.network.prices.get().keys()]).toEqual(["0x0", "0x1", "0x2", "0x3"]);
	});
});

describe("the start", () => {
	it("reads nothing before the daemon is there, and then all", async () => {
		const w = window();
		await settle();
		expect(w.asked).toEqual([]);
		w.ready();
		await settle();
		const { wallet } = w;
		expect([wallet.connection.link.get().at, wallet.connection.keys.get()?.state, wallet.connection.account.get(), wallet.network.active.get()]).toEqual(["ready", "unlocked", a, 1]);
		expect(wallet.network.networks.get()).toHaveLength(2);
		expect(wallet.network.providers.get()).toHaveLength(2);
		expect(wallet.network.balances.get()).toEqual([{ token: NATIVE, amount: "0xA@1" }]);
		expect(wallet.network.prices.get().get("0xtoken")).toMatchObject({ usd: "1" });
		expect(wallet.network.gas.get()).toEqual({ chainId: 1 });
		expect(wallet.connection.settings.get()).toHaveLength(1);
	});
	it("asks a network that was shut down for balances when somebody does, and for nothing else", async () => {
		const w = window();
		w.daemon["networks.list"] = () => ({ active: 1, networks: [{ chainId: 1, ended: "2026-08-15T00:00:00Z" }, { chainId: 10 }] });
		w.ready();
		await vi.advanceTimersByTimeAsync(60_000);
		expect([w.count("tokens.balances"), w.count("gas.watch")]).toEqual([1, 0]);
		await w.wallet.network.refreshBalances();
		expect([w.count("tokens.balances"), w.wallet.network.balances.get()]).toEqual([2, [{ token: NATIVE, amount: "0xA@1" }]]);
		w.tell("networks.changed", { active: 10 });
		await vi.advanceTimersByTimeAsync(60_000);
		expect([w.count("tokens.balances") > 4, w.count("gas.watch")]).toEqual([true, 1]);
	});
	it("shows the account that was shown before", async () => {
		const w = window({ account: "0xB" });
		w.ready();
		await settle();
		expect(w.wallet.connection.account.get()).toEqual(b);
	});
	it("shows the first account where that one is gone, and none where there is none", async () => {
		const w = window({ account: "0xC" });
		w.daemon["keys.accounts"] = () => ({ accounts: [] });
		w.ready();
		await settle();
		expect(w.wallet.connection.account.get()).toBeUndefined();
		expect(w.wallet.network.balances.get()).toBeUndefined();
		w.daemon["keys.accounts"] = () => ({ accounts: [b] });
		w.tell("keys.changed", {});
		await settle();
		expect(w.wallet.connection.account.get()).toEqual(b);
		expect(w.wallet.network.balances.get()).toMatchObject([{ amount: "0xB@1" }]);
	});
	it.each(["keys.status", "networks.list", "swap.providers", "swap.orders", "settings.get", "prices.list", "tokens.balances", "gas.watch"] as const)(
		"goes on without %s, and without an unhandled rejection",
		async (method) => {
			const w = window();
			delete w.daemon[method];
			w.ready();
			await settle();
			expect(w.wallet.connection.settings.get().length + w.wallet.network.networks.get().length).toBeGreaterThan(0);
			for (const event of ["keys.changed", "networks.changed", "tokens.changed", "prices.changed", "settings.changed"] as const) w.tell(event, { active: 1, chainId: 1 });
			w.tell("swap.order", order("o", 1, 1, true));
			await settle();
			expect(w.wallet.connection.link.get().at).toBe("ready");
		},
	);
	it("has a part that failed read again, while that daemon is there", async () => {
		const w = window();
		const list = w.daemon["networks.list"]!;
		delete w.daemon["networks.list"];
		w.ready();
		await vi.advanceTimersByTimeAsync(10_000);
		expect(w.wallet.network.networks.get()).toEqual([]);
		expect([w.count("networks.list"), w.count("settings.get")]).toEqual([4, 1]); // at 0, 0.75, 2.25 and 5.25 s
		w.daemon["networks.list"] = list;
		await vi.advanceTimersByTimeAsync(10_000);
		expect(w.wallet.network.networks.get()).toHaveLength(2);
		delete w.daemon["networks.list"];
		w.ready();
		await settle();
		w.port.deliver({ link: { at: "connecting" } });
		const before = w.count("networks.list");
		await vi.advanceTimersByTimeAsync(60_000);
		expect(w.count("networks.list")).toBe(before);
	});
	it("says why the keys cannot be read, until they can", async () => {
		const w = window();
		const status = w.daemon["keys.status"]!;
		delete w.daemon["keys.status"];
		w.ready();
		await settle();
		expect([w.wallet.connection.keys.get(), w.wallet.connection.keysFailure.get()]).toEqual([undefined, expect.any(Failure)]);
		w.daemon["keys.status"] = status;
		await vi.advanceTimersByTimeAsync(1000);
		expect([w.wallet.connection.keys.get(), w.wallet.connection.keysFailure.get()]).toEqual([expect.anything(), undefined]);
	});
	it("leaves a keychain in peace that may have prompted", async () => {
		const w = window();
		w.hold("keys.status");
		w.ready();
		await settle();
		const [first] = w.release("keys.status");
		w.port.deliver({ id: first!.id, error: wireErrorOf("keychain_locked") });
		await vi.advanceTimersByTimeAsync(60_000);
		expect([w.wallet.connection.keysFailure.get()?.name, w.count("keys.status")]).toEqual(["keychain_locked", 1]);
	});
	it("of another daemon has all read anew", async () => {
		const w = window();
		w.ready();
		await settle();
		w.daemon["keys.status"] = () => ({ state: "locked", session: false });
		w.daemon["swap.orders"] = () => ({ orders: [order("n", 2)] });
		w.wallet.orders.mergeOrder(order("gone", 1));
		const before = ["tokens.balances", "gas.watch", "prices.list"].map((m) => w.count(m as keyof Methods));
		w.ready();
		await settle();
		expect(w.wallet.connection.keys.get()).toEqual({ state: "locked", session: false });
		expect(w.wallet.orders.orders.get().map((o) => o.id)).toEqual(["n"]);
		for (const [i, m] of ["tokens.balances", "gas.watch", "prices.list"].entries()) expect(w.count(m as keyof Methods), m).toBeGreaterThan(before[i]!);
	});
	it("of a link that flickers keeps what is shown", async () => {
		const w = window();
		w.ready();
		await settle();
		w.port.deliver({ link: { at: "connecting" } });
		expect(w.wallet.connection.keys.get()?.state).toBe("unlocked");
		expect(w.wallet.connection.link.get()).toEqual({ at: "connecting" });
		const balances = w.count("tokens.balances");
		await vi.advanceTimersByTimeAsync(30_000);
		expect(w.count("tokens.balances")).toBe(balances); // no daemon to ask
		w.ready();
		await settle();
		expect(w.wallet.network.balances.get()).toBeDefined();
	});
});

describe("answers that come late", () => {
	it("of another network are dropped", async () => {
		const w = window();
		w.ready();
		await settle();
		for (const m of ["tokens.balances", "prices.list", "gas.watch"] as const) w.hold(m);
		w.tell("tokens.changed", {});
		w.tell("prices.changed", {});
		w.tell("networks.changed", { active: 10 });
		expect([w.wallet.network.balances.get(), w.wallet.network.gas.get(), w.wallet.network.prices.get().size]).toEqual([undefined, undefined, 0]);
		w.tell("networks.changed", { active: 1 });
		w.tell("networks.changed", { active: 10 });
		const late = (["tokens.balances", "prices.list", "gas.watch"] as const).map((m) => [m, w.release(m)] as const);
		for (const [, all] of late) for (const l of all.reverse()) w.answer(l); // newest first
		await settle();
		expect(w.wallet.network.balances.get()).toEqual([{ token: NATIVE, amount: "0xA@10" }]);
		expect([...w.wallet.network.prices.get().values()]).toMatchObject([{ usd: "10" }]);
		expect(w.wallet.network.gas.get()).toEqual({ chainId: 10 });
	});
	it("of another account are dropped, and its balances are shown to nobody else", async () => {
		const w = window();
		w.ready();
		await settle();
		w.hold("tokens.balances");
		w.tell("tokens.changed", {});
		w.wallet.connection.choose(b);
		expect(w.wallet.network.balances.get()).toBeUndefined();
		const all = w.release("tokens.balances");
		for (const l of all.reverse()) w.answer(l);
		await settle();
		expect(w.wallet.network.balances.get()).toMatchObject([{ amount: "0xB@1" }]);
	});
	it.each([
		["tokens.balances", "tokens.changed", (amount: string) => ({ account: "0xA", chainId: 1, balances: [{ token: NATIVE, amount }] }), (w: Wallet) => w.network.balances.get()?.[0]?.amount],
		["prices.list", "prices.changed", (usd: string) => ({ chainId: 1, prices: [{ token: NATIVE, usd }] }), (w: Wallet) => (w.network.prices.get().get(NATIVE) as { usd?: string } | undefined)?.usd],
	] as const)("of an older %s do not hide the newer, and are taken while that is open", async (method, event, played, shown) => {
		const w = window();
		w.ready();
		await settle();
		w.hold(method);
		for (let i = 0; i < 3; i++) w.tell(event, { chainId: 1 });
		const [first, second, third] = w.release(method);
		for (const [asked, value, then] of [[first, "1", "1"], [third, "3", "3"], [second, "2", "3"]] as const) {
			w.daemon[method] = () => played(value);
			w.answer(asked!);
			await settle();
			expect(shown(w.wallet)).toBe(then);
		}
	});
	it("of an older state of the keys do not hide the newer", async () => {
		const w = window();
		w.ready();
		await settle();
		w.hold("keys.status");
		w.daemon["keys.status"] = () => ({ state: "locked", session: false });
		w.tell("keys.changed", {});
		w.tell("keys.changed", {});
		const [older, newer] = w.release("keys.status");
		w.answer(newer!);
		await settle();
		w.daemon["keys.status"] = () => ({ state: "unlocked", session: true });
		w.answer(older!);
		await settle();
		expect(w.wallet.connection.keys.get()).toEqual({ state: "locked", session: false });
	});
	it("of orders do not hide what was told meanwhile", async () => {
		const w = window();
		w.daemon["swap.orders"] = () => ({ orders: [order("a", 1, 1)] });
		w.hold("swap.orders");
		w.ready();
		await settle();
		w.tell("swap.order", order("a", 1, 5));
		w.tell("swap.order", order("b", 2, 1));
		for (const l of w.release("swap.orders")) w.answer(l);
		await settle();
		await vi.advanceTimersByTimeAsync(50); // the second one is batched
		expect(w.wallet.orders.orders.get().map((o) => [o.id, o.revision])).toEqual([["b", 1], ["a", 5]]);
	});
});

describe("a network that is left", () => {
	it("is not watched for gas any more", async () => {
		const w = window();
		w.ready();
		await settle();
		w.tell("networks.changed", { active: 10 });
		await settle();
		w.tell("gas.price", { chainId: 10, block: 2 });
		expect(w.wallet.network.gas.get()).toEqual({ chainId: 10, block: 2 });
		w.tell("gas.price", { chainId: 1, block: 9 });
		expect(w.wallet.network.gas.get()).toEqual({ chainId: 10, block: 2 });
		expect(w.asked.at(-1)).toMatchObject({ method: "gas.watch", params: { chainId: 1, stop: true } });
	});
	it("stays watched while it is not known which one is active", () => {
		const w = window();
		w.tell("gas.price", { chainId: 1 });
		expect(w.asked).toEqual([]);
	});
	it("is the one that the daemon says, whichever answer comes last", async () => {
		const w = window();
		w.ready();
		await settle();
		const selected = w.wallet.network.select(10);
		w.tell("networks.changed", { active: 10 });
		w.tell("networks.changed", { active: 1 }); // selected by another window
		await selected;
		expect(w.wallet.network.active.get()).toBe(1);
	});
});

describe("an account", () => {
	it("that is chosen is kept, and read", async () => {
		const w = window();
		w.ready();
		await settle();
		w.wallet.connection.choose(b);
		expect(w.set).toHaveBeenCalledWith({ account: "0xB" });
		await settle();
		expect(w.wallet.network.balances.get()).toMatchObject([{ amount: "0xB@1" }]);
	});
	it("that is chosen again keeps its balances", async () => {
		const w = window();
		w.ready();
		await settle();
		w.wallet.connection.choose(w.wallet.connection.account.get()!);
		expect(w.wallet.network.balances.get()).toMatchObject([{ amount: "0xA@1" }]);
	});
	it("that was removed takes its balances with it", async () => {
		const w = window();
		w.ready();
		await settle();
		w.daemon["keys.accounts"] = () => ({ accounts: [b] });
		w.hold("tokens.balances");
		w.tell("keys.changed", {});
		await settle();
		expect(w.wallet.connection.account.get()).toEqual(b);
		expect(w.wallet.network.balances.get()).toBeUndefined();
	});
});

describe("balances", () => {
	it("are read again every 12 s while the window is looked at, and when an order ends", async () => {
		const w = window();
		w.ready();
		await settle();
		const before = w.count("tokens.balances");
		await vi.advanceTimersByTimeAsync(12_000);
		expect(w.count("tokens.balances")).toBe(before + 1);
		vi.stubGlobal("document", { visibilityState: "hidden" });
		await vi.advanceTimersByTimeAsync(60_000);
		expect(w.count("tokens.balances")).toBe(before + 1);
		w.tell("swap.order", order("a", 1, 1, false));
		expect(w.count("tokens.balances")).toBe(before + 1);
		w.tell("swap.order", order("a", 1, 2, true));
		await vi.advanceTimersByTimeAsync(50);
		expect(w.count("tokens.balances")).toBe(before + 2);
		await settle();
	});
	it("that cannot be read leave the last ones", async () => {
		const w = window();
		w.ready();
		await settle();
		delete w.daemon["tokens.balances"];
		await w.wallet.network.refreshBalances();
		expect(w.wallet.network.balances.get()).toMatchObject([{ amount: "0xA@1" }]);
	});
});

describe("more orders", () => {
	it("come by the list's cursor, and none at its end", async () => {
		const w = window();
		w.daemon["swap.orders"] = (p) => (p["cursor"] === "c" ? { orders: [order("a", 1)] } : { orders: [order("b", 2)], cursor: "c" });
		w.ready();
		await settle();
		await w.wallet.orders.loadMoreOrders();
		expect(w.wallet.orders.orders.get().map((o) => o.id)).toEqual(["b", "a"]);
		expect(w.wallet.orders.moreOrders.get()).toBeUndefined();
		const before = w.count("swap.orders");
		await w.wallet.orders.loadMoreOrders();
		expect(w.count("swap.orders")).toBe(before);
		expect(w.wallet.orders.orders.get()).toHaveLength(2);
	});
});
