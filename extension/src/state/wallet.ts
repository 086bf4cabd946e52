import type {
	Account, Balance, Events, GasPrice, Hello, KeysStatus, Network, Order, Price, Provider, Setting,
} from "../wire/protocol";
import type { Link } from "../wire/link";
import { batched } from "./batched";
import type { Channel } from "./channel";
import { keep, kept } from "./local";
import { store, type Store } from "./store";

/** NATIVE is a network's own coin as a token address. */
export const NATIVE = "0x0000000000000000000000000000000000000000";

/** How often balances are read again while a window is looked at, in ms. */
const balancePause = 12_000;

/** Orders that are listed at once; more come with the list's own cursor. */
const listed = 50;

/** A Wallet is what the daemon tells of the wallet, as this window shows it. All of
 * it is the daemon's: a restarted daemon has it read anew. */
export interface Wallet {
	shell: Channel;
	link: Store<Link>;
	hello: Store<Hello | undefined>;
	keys: Store<KeysStatus | undefined>;
	accounts: Store<readonly Account[]>;
	/** The account that is shown; undefined while there is none. */
	account: Store<Account | undefined>;
	networks: Store<readonly Network[]>;
	/** Chain id of the active network, 0 while unknown. */
	active: Store<number>;
	providers: Store<readonly Provider[]>;
	/** Balances of the account on the active network; undefined while unknown. */
	balances: Store<readonly Balance[] | undefined>;
	/** Prices by lower-case address on the active network. */
	prices: Store<ReadonlyMap<string, Price>>;
	/** Newest first. */
	orders: Store<readonly Order[]>;
	/** The list's next page; undefined at its end. */
	moreOrders: Store<string | undefined>;
	gas: Store<GasPrice | undefined>;
	settings: Store<readonly Setting[]>;
	choose(account: Account): void;
	select(chainId: number): Promise<void>;
	refreshBalances(): Promise<void>;
	loadMoreOrders(): Promise<void>;
	/** learn takes an order that an answer brought before its notification. */
	learn(order: Order): void;
}

export function createWallet(shell: Channel): Wallet {
	const wallet: Wallet = {
		shell,
		link: store<Link>({ at: "connecting" }),
		hello: store<Hello | undefined>(undefined),
		keys: store<KeysStatus | undefined>(undefined),
		accounts: store<readonly Account[]>([]),
		account: store<Account | undefined>(undefined),
		networks: store<readonly Network[]>([]),
		active: store(0),
		providers: store<readonly Provider[]>([]),
		balances: store<readonly Balance[] | undefined>(undefined),
		prices: store<ReadonlyMap<string, Price>>(new Map()),
		orders: store<readonly Order[]>([]),
		moreOrders: store<string | undefined>(undefined),
		gas: store<GasPrice | undefined>(undefined),
		settings: store<readonly Setting[]>([]),
		choose(account) {
			keep("account", account.address);
			wallet.account.set(account);
		},
		async select(chainId) {
			await shell.call("networks.select", { chainId }); // networks.changed tells of it, in the order of all windows
		},
		refreshBalances: () => readBalances(wallet),
		async loadMoreOrders() {
			const cursor = wallet.moreOrders.get();
			if (cursor) await readOrders(wallet, cursor);
		},
		learn: (order) => wallet.orders.update((orders) => withOrder(orders, order)),
	};
	shell.onLink((link) => {
		wallet.link.set(link);
		if (link.at === "ready") void begin(wallet, link.hello);
	});
	listen(wallet);
	wallet.active.subscribe(() => onNetwork(wallet));
	let shown: string | undefined;
	wallet.account.subscribe((account) => {
		if (account?.address !== shown) wallet.balances.set(undefined);
		shown = account?.address;
		void readBalances(wallet);
	});
	setInterval(() => document.visibilityState === "visible" && void readBalances(wallet), balancePause);
	return wallet;
}

/** begin reads all, at the start and when the daemon was restarted. Each part stands
 * alone: one that fails is read again with its next notification. */
async function begin(wallet: Wallet, hello: Hello): Promise<void> {
	wallet.hello.set(hello);
	await Promise.allSettled([readKeys, readNetworks, readProviders, readOrders, readSettings].map((read) => read(wallet)));
}

function listen(wallet: Wallet): void {
	const { shell } = wallet;
	const reads: { [E in keyof Events]?: (params: Events[E]) => unknown } = {
		"keys.changed": () => readKeys(wallet),
		"networks.changed": (params) => wallet.active.set(params.active),
		"tokens.changed": () => readBalances(wallet),
		"prices.changed": () => readPrices(wallet),
		"settings.changed": () => Promise.all([readSettings(wallet), readProviders(wallet)]),
		"gas.price": (price) => onGas(wallet, price),
		"swap.order": batched((orders: readonly Order[]) => {
			wallet.orders.update((before) => orders.reduce(withOrder, before));
			if (orders.some((o) => o.final)) void readBalances(wallet);
		}),
	};
	for (const [event, read] of Object.entries(reads)) {
		shell.on(event as keyof Events, async (params) => {
			try {
				await (read as (p: unknown) => unknown)(params);
			} catch {
				// what was read last stays; a daemon that went away has all read anew
			}
		});
	}
}

/** newest has only the last of a wallet's questions of one kind answered: the daemon
 * answers in any order, and an older answer may tell of an older state. */
function newest<R>(ask: (wallet: Wallet) => Promise<R>, take: (wallet: Wallet, answer: R) => void): (wallet: Wallet) => Promise<void> {
	const asked = new WeakMap<Wallet, number>();
	return async (wallet) => {
		const turn = (asked.get(wallet) ?? 0) + 1;
		asked.set(wallet, turn);
		const answer = await ask(wallet);
		if (asked.get(wallet) === turn) take(wallet, answer);
	};
}

const readKeys = newest(
	({ shell }) => Promise.all([shell.call("keys.status", {}), shell.call("keys.accounts", {}), kept("account")]),
	(wallet, [status, { accounts }, before]) => {
		wallet.accounts.set(accounts);
		const shown = wallet.account.get()?.address ?? before;
		wallet.account.set(accounts.find((a) => a.address === shown) ?? accounts[0]);
		wallet.keys.set(status);
	},
);

const readNetworks = newest(
	({ shell }) => shell.call("networks.list", {}),
	(wallet, { active, networks }) => {
		wallet.networks.set(networks);
		if (wallet.active.get() === active) onNetwork(wallet);
		wallet.active.set(active);
	},
);

const readProviders = newest(
	({ shell }) => shell.call("swap.providers", {}),
	(wallet, { providers }) => wallet.providers.set(providers),
);

const readSettings = newest(
	({ shell }) => shell.call("settings.get", {}),
	(wallet, { settings }) => wallet.settings.set(settings),
);

/** onNetwork forgets what was of another network and reads this one's. */
function onNetwork(wallet: Wallet): void {
	wallet.balances.set(undefined);
	wallet.prices.set(new Map());
	wallet.gas.set(undefined);
	void readBalances(wallet);
	void readPrices(wallet);
	const chainId = wallet.active.get();
	wallet.shell.call("gas.watch", { chainId }).then(({ price }) => price && onGas(wallet, price)).catch(() => {}); // the next head brings it
}

/** The daemon goes on telling of a network that was left until it is asked not to. */
function onGas(wallet: Wallet, price: GasPrice): void {
	const active = wallet.active.get();
	if (price.chainId === active) wallet.gas.set(price);
	else if (active !== 0) wallet.shell.call("gas.watch", { chainId: price.chainId, stop: true }).catch(() => {}); // the next price asks again
}

async function readBalances(wallet: Wallet): Promise<void> {
	const account = wallet.account.get();
	const chainId = wallet.active.get();
	if (!account || chainId === 0 || wallet.link.get().at !== "ready") return;
	try {
		const read = await wallet.shell.call("tokens.balances", { account: account.address, chainId, withBalance: true });
		if (wallet.account.get()?.address === read.account && wallet.active.get() === read.chainId) wallet.balances.set(read.balances);
	} catch {
		// the last ones stay; a network that does not answer says so in its row
	}
}

async function readPrices(wallet: Wallet): Promise<void> {
	const chainId = wallet.active.get();
	if (chainId === 0) return;
	const read = await wallet.shell.call("prices.list", { chainId, limit: 200 }).catch(() => undefined); // they are shown as unavailable
	if (read && wallet.active.get() === read.chainId) wallet.prices.set(new Map(read.prices.map((p) => [p.token.toLowerCase(), p])));
}

async function readOrders(wallet: Wallet, cursor?: string): Promise<void> {
	const before = new Set(wallet.orders.get());
	const page = await wallet.shell.call("swap.orders", cursor ? { limit: listed, cursor } : { limit: listed });
	// What changed meanwhile is newer than the answer, or not in it.
	wallet.orders.update((orders) => page.orders.reduce(withOrder, cursor ? orders : orders.filter((o) => !before.has(o))));
	wallet.moreOrders.set(page.cursor);
}

/** withOrder puts an order in its place, newest first. Of two of one id the higher
 * revision is the newer, in whichever order they arrive. */
export function withOrder(orders: readonly Order[], order: Order): readonly Order[] {
	const at = orders.findIndex((o) => o.id === order.id);
	if (at >= 0 && orders[at]!.revision > order.revision) return orders;
	const others = orders.filter((o) => o.id !== order.id);
	const place = others.findIndex((o) => o.created < order.created);
	return place < 0 ? [...others, order] : [...others.slice(0, place), order, ...others.slice(place)];
}
