import type { Balance, GasPrice, Network, Price, Provider } from "../wire/protocol";
import { type Connection, readWhenReady } from "./connection";
import { latestAnswer, readOn } from "./refresh";
import { store, type Store } from "./store";

/** NATIVE is the token address that stands for a network's native coin. */
export const NATIVE = "0x0000000000000000000000000000000000000000";

/** How often balances are read while a window is visible, in ms. */
const balanceInterval = 12_000;

/** NetworkData is what the daemon tells about networks and providers, and what it reads on
 * the active network. */
export interface NetworkData {
	networks: Store<readonly Network[]>;
	/** Chain id of the active network, 0 while unknown. */
	active: Store<number>;
	providers: Store<readonly Provider[]>;
	/** Of the selected account on the active network; undefined while unknown. */
	balances: Store<readonly Balance[] | undefined>;
	/** On the active network, by lower-case address. */
	prices: Store<ReadonlyMap<string, Price>>;
	/** Of the active network. */
	gas: Store<GasPrice | undefined>;
	/** select makes a network the active one, in all windows. */
	select(chainId: number): Promise<void>;
	refreshBalances(): Promise<void>;
}

export function createNetworkData(connection: Connection): NetworkData {
	const { shell, account } = connection;
	const data: NetworkData = {
		networks: store<readonly Network[]>([]),
		active: store(0),
		providers: store<readonly Provider[]>([]),
		balances: store<readonly Balance[] | undefined>(undefined),
		prices: store<ReadonlyMap<string, Price>>(new Map()),
		gas: store<GasPrice | undefined>(undefined),
		async select(chainId) {
			await shell.call("networks.select", { chainId }); // networks.changed sets it, in the same order in all windows
		},
		refreshBalances: () => readBalances(),
	};
	const readBalances = balanceReader(connection, data);
	const readPrices = keepPrices(connection, data);
	const watchGas = keepGas(connection, data);
	const changed = () => {
		data.balances.set(undefined);
		data.prices.set(new Map());
		data.gas.set(undefined);
		void data.refreshBalances();
		void readPrices();
		watchGas();
	};
	keepNetworks(connection, data, changed);
	keepProviders(connection, data);
	data.active.subscribe(changed);
	let shown: string | undefined;
	account.subscribe((selected) => {
		if (selected?.address !== shown) data.balances.set(undefined);
		shown = selected?.address;
		void data.refreshBalances();
	});
	readOn(shell, "tokens.changed", data.refreshBalances);
	setInterval(() => document.visibilityState === "visible" && !ended(data) && void data.refreshBalances(), balanceInterval);
	return data;
}

/** ended reports whether the active network was shut down: balances there are read only when somebody
 * looks at it or asks. */
function ended({ networks, active }: NetworkData): boolean {
	return networks.get().some((n) => n.chainId === active.get() && n.ended);
}

/** keepNetworks calls `restarted` when a daemon reports the network that was active before:
 * the data of that network has to be read from this daemon. */
function keepNetworks(connection: Connection, { networks, active }: NetworkData, restarted: () => void): void {
	const { shell } = connection;
	const read = latestAnswer(
		() => shell.call("networks.list", {}),
		(answer) => {
			networks.set(answer.networks);
			if (active.get() === answer.active) restarted();
			active.set(answer.active);
		},
	);
	readWhenReady(connection, read);
	readOn(shell, "networks.changed", (params) => active.set(params.active));
}

function keepProviders(connection: Connection, { providers }: NetworkData): void {
	const { shell } = connection;
	const read = latestAnswer(() => shell.call("swap.providers", {}), (answer) => providers.set(answer.providers));
	readWhenReady(connection, read);
	readOn(shell, "settings.changed", read); // a setting may switch a provider off
}

function balanceReader({ shell, account, link }: Connection, { active, balances }: NetworkData): () => Promise<void> {
	return latestAnswer(
		async () => {
			const [shown, chainId] = [account.get(), active.get()];
			if (!shown || chainId === 0 || link.get().at !== "ready") return undefined;
			return shell.call("tokens.balances", { account: shown.address, chainId, withBalance: true }).catch(() => undefined); // the last ones stay
		},
		(read) => {
			if (read && account.get()?.address === read.account && active.get() === read.chainId) balances.set(read.balances);
		},
	);
}

// The prices of a network come page by page; at most this many pages are read.
const mostPages = 4;

async function pricesOf(shell: Connection["shell"], chainId: number): Promise<{ chainId: number; prices: Price[] }> {
	const prices: Price[] = [];
	let cursor: string | undefined;
	for (let page = 0; page < mostPages; page++) {
		const read = await shell.call("prices.list", { chainId, limit: 200, ...(cursor ? { cursor } : {}) });
		prices.push(...read.prices);
		cursor = read.cursor;
		if (!cursor) break;
	}
	return { chainId, prices };
}

/** keepPrices returns a function that reads the prices of the active network. */
function keepPrices({ shell }: Connection, { active, prices }: NetworkData): () => Promise<void> {
	const read = latestAnswer(
		async () => {
			const chainId = active.get();
			return chainId === 0 ? undefined : pricesOf(shell, chainId).catch(() => undefined); // shown as unavailable
		},
		(answer) => {
			if (answer && active.get() === answer.chainId) prices.set(new Map(answer.prices.map((p) => [p.token.toLowerCase(), p])));
		},
	);
	readOn(shell, "prices.changed", read);
	return read;
}

/** keepGas returns a function that watches the gas price of the active network. The watch of
 * another network ends at its next price: the daemon sends prices until told to stop. */
function keepGas({ shell }: Connection, data: NetworkData): () => void {
	const { active, gas } = data;
	const take = (price: GasPrice) => {
		if (price.chainId === active.get()) gas.set(price);
		else if (active.get() !== 0) shell.call("gas.watch", { chainId: price.chainId, stop: true }).catch(() => {}); // if this fails, the next price repeats it
	};
	readOn(shell, "gas.price", take);
	return () => {
		if (ended(data)) return;
		shell.call("gas.watch", { chainId: active.get() }).then(({ price }) => price && take(price)).catch(() => {}); // otherwise the next block brings it
	};
}
