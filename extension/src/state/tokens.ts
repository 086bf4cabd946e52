import { useEffect, useMemo, useState } from "preact/hooks";
import type { Network, Token } from "../wire/protocol";
import { useConnection, useNetworkData } from "./context";
import { store, useStore } from "./store";
import type { Connection } from "./connection";
import { NATIVE, type NetworkData } from "./network-data";

/** A chain and a token address on it. */
export interface TokenAt {
	chainId: number;
	address: string;
}

/** A Lookup returns what is known about a token. `token` is undefined for an unknown one;
 * `pending` while the daemon is being asked. */
export type Lookup = (chainId: number, address: string) => { token: Token | undefined; pending: boolean };

// The tokens of networks that only a provider reaches come from that provider, page by
// page; at most this many pages are read.
const mostPages = 5;

/** A TokenCache caches tokens, and asks the daemon once for each. */
export class TokenCache {
	private known = new Map<string, Token | undefined>();
	private asked = new Map<string, Promise<void>>();
	private unanswered = new Set<string>();
	/** Counts how often unknown tokens were forgotten, to ask for them again. */
	readonly generation = store(0);

	constructor(
		private readonly shell: Connection["shell"],
		private readonly network: Pick<NetworkData, "networks" | "balances">,
	) {
		shell.on("tokens.changed", ({ chainId }) => this.forgetUnknown(chainId));
	}

	get(at: TokenAt): { token: Token | undefined; pending: boolean } {
		const key = keyOf(at);
		const token = this.known.get(key) ?? this.held(at);
		return { token, pending: !token && !this.known.has(key) && !this.unanswered.has(key) };
	}

	/** load asks for a token that is not known yet. It never rejects: without an answer
	 * the token counts as unknown, and is asked for again when next shown. */
	async load(at: TokenAt): Promise<void> {
		const key = keyOf(at);
		if (this.known.has(key)) return;
		const under = this.asked.get(key) ?? this.ask(at).then((token) => void this.known.set(key, token)).catch(() => void this.unanswered.add(key));
		this.asked.set(key, under);
		await under;
		this.asked.delete(key);
	}

	private held({ chainId, address }: TokenAt): Token | undefined {
		const held = this.network.balances.get()?.find((b) => b.known?.chainId === chainId && same(b.token, address))?.known;
		const network = this.network.networks.get().find((n) => n.chainId === chainId);
		return held ?? (network && address === NATIVE ? coinOf(network) : undefined);
	}

	private async ask(at: TokenAt): Promise<Token | undefined> {
		const held = this.held(at);
		if (held) return held;
		if (!this.network.networks.get().some((n) => n.chainId === at.chainId)) return this.askProviders(at);
		const { tokens } = await this.shell.call("tokens.search", { query: at.address, chainId: at.chainId });
		return tokens.find((t) => same(t.address, at.address));
	}

	/** askProviders searches the token lists of bridge and intent, for a network that is
	 * not the wallet's own. */
	private async askProviders(at: TokenAt): Promise<Token | undefined> {
		for (const provider of ["bridge", "intent"] as const) {
			let cursor: string | undefined;
			for (let page = 0; page < mostPages; page++) {
				const params = { chainId: at.chainId, provider, limit: 200 };
				const read = await this.shell.call("tokens.list", cursor ? { ...params, cursor } : params).catch(() => undefined);
				const token = read?.tokens.find((t) => same(t.address, at.address));
				if (token) return token;
				cursor = read?.cursor;
				if (!cursor) break;
			}
		}
		return undefined;
	}

	private forgetUnknown(chainId: number): void {
		for (const [key, token] of [...this.known]) if (!token && key.startsWith(`${chainId}:`)) this.known.delete(key);
		this.generation.update((n) => n + 1);
	}
}

const keyOf = ({ chainId, address }: TokenAt) => `${chainId}:${address.toLowerCase()}`;
const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase();

/** coinOf returns a network's native coin as a token. */
export function coinOf({ chainId, symbol, decimals, name }: Network): Token {
	return { chainId, address: NATIVE, symbol, name, decimals, verified: true, ...markOf(symbol) };
}

/** The native coins' marks, as the daemon names them; it is not asked about coins. */
function markOf(symbol: string): { mark?: string } {
	return symbol === "ETH" || symbol === "BNB" ? { mark: symbol.toLowerCase() } : {};
}

const caches = new WeakMap<NetworkData, TokenCache>();

function useTokenCache(): TokenCache {
	const { shell } = useConnection();
	const network = useNetworkData();
	let cache = caches.get(network);
	if (!cache) caches.set(network, (cache = new TokenCache(shell, network)));
	return cache;
}

/** useTokens returns a Lookup for these tokens, and redraws when more of them are known. */
export function useTokens(wanted: readonly TokenAt[]): Lookup {
	const cache = useTokenCache();
	const generation = useStore(cache.generation);
	const [drawn, draw] = useState(0);
	const names = wanted.map(keyOf).join(" ");
	useEffect(() => {
		let shown = true;
		void Promise.all(wanted.map((at) => cache.load(at))).then(() => shown && draw((n) => n + 1));
		return () => void (shown = false);
	}, [names, cache, generation]);
	return useMemo(() => (chainId, address) => cache.get({ chainId, address }), [cache, drawn, names, generation]);
}
