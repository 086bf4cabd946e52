import { expect, it } from "vitest";
import type { Balance, Network, Token } from "../wire/protocol";
import type { Channel } from "./channel";
import { store } from "./store";
import { TokenCache } from "./tokens";
import { NATIVE } from "./network-data";

const usdc = "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48";
const token = (chainId: number, symbol: string, address = usdc): Token => ({ chainId, address, symbol, name: symbol, decimals: 6, verified: true });

function book(answers: Record<string, (params: { chainId: number; provider?: string; cursor?: string }) => unknown>, held: readonly Balance[] = []) {
	const calls: string[] = [];
	let changed: (params: { chainId: number }) => void = () => {};
	const shell = {
		call: async (method: string, params: { chainId: number; provider?: string; cursor?: string }) => {
			calls.push([method, params.chainId, params.provider, params.cursor].filter(Boolean).join(" "));
			return answers[method]?.(params);
		},
		on: (_: string, listener: typeof changed) => ((changed = listener), () => {}),
	} as unknown as Channel;
	const networks = store<readonly Network[]>([{ chainId: 1, name: "Ethereum", symbol: "ETH", decimals: 18 } as Network]);
	const made = new TokenCache(shell, { networks, balances: store<readonly Balance[] | undefined>(held) });
	return { made, calls, changed: (chainId: number) => changed({ chainId }) };
}

it("asks once for a token, whoever wants it, and in whatever case its address is", async () => {
	const { made, calls } = book({ "tokens.search": () => ({ tokens: [token(1, "OTHER", NATIVE), token(1, "USDC")] }) });
	expect(made.get({ chainId: 1, address: usdc })).toEqual({ token: undefined, pending: true });
	await Promise.all([made.load({ chainId: 1, address: usdc }), made.load({ chainId: 1, address: usdc.toLowerCase() })]);
	expect(made.get({ chainId: 1, address: usdc })).toMatchObject({ token: { symbol: "USDC" }, pending: false });
	await made.load({ chainId: 1, address: usdc });
	expect(calls).toEqual(["tokens.search 1"]);
});

it("knows a network's coin, and what the account holds, without asking", async () => {
	const { made, calls } = book({}, [{ token: usdc, amount: "1", known: token(1, "USDC") }]);
	expect(made.get({ chainId: 1, address: NATIVE }).token).toMatchObject({ symbol: "ETH", decimals: 18 });
	expect(made.get({ chainId: 1, address: usdc }).token).toMatchObject({ symbol: "USDC" });
	await made.load({ chainId: 1, address: NATIVE });
	expect(calls).toEqual([]);
});

it("looks for a token of a chain that only providers reach, page by page", async () => {
	const pages: Record<string, unknown> = { bridge: { tokens: [token(137, "A", NATIVE)] }, intent: { tokens: [], cursor: "2" }, "intent2": { tokens: [token(137, "USDC.e")] } };
	const { made, calls } = book({ "tokens.list": (p) => pages[`${p.provider}${p.cursor ?? ""}`] });
	await made.load({ chainId: 137, address: usdc });
	expect(made.get({ chainId: 137, address: usdc }).token?.symbol).toBe("USDC.e");
	expect(calls).toEqual(["tokens.list 137 bridge", "tokens.list 137 intent", "tokens.list 137 intent 2"]);
});

it("calls a stranger unknown, and asks again once tokens were imported", async () => {
	let known: Token[] = [];
	const { made, changed } = book({ "tokens.search": () => ({ tokens: known }) });
	await made.load({ chainId: 1, address: usdc });
	expect(made.get({ chainId: 1, address: usdc })).toEqual({ token: undefined, pending: false });
	known = [token(1, "USDC")];
	await made.load({ chainId: 1, address: usdc });
	expect(made.get({ chainId: 1, address: usdc }).token).toBeUndefined();
	changed(1);
	expect(made.generation.get()).toBe(1);
	await made.load({ chainId: 1, address: usdc });
	expect(made.get({ chainId: 1, address: usdc }).token?.symbol).toBe("USDC");
});

it("takes no answer for unknown, and asks again when it is next shown", async () => {
	let down = true;
	const { made } = book({ "tokens.search": () => (down ? Promise.reject(new Error("lost")) : { tokens: [token(1, "USDC")] }) });
	await made.load({ chainId: 1, address: usdc });
	expect(made.get({ chainId: 1, address: usdc })).toEqual({ token: undefined, pending: false });
	down = false;
	await made.load({ chainId: 1, address: usdc });
	expect(made.get({ chainId: 1, address: usdc }).token?.symbol).toBe("USDC");
});
