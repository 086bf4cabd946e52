import type {
	Account, Balance, Events, GasPrice, Hello, KeysStatus, Network, Order, Price, Provider, Setting,
} from "../wire/protocol";
import { type Failure, failureOf } from "../wire/failure";
import type { Link } from "../wire/link";
import { Backoff } from "../background/backoff";
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
	/** Why it is not known which wallets there are, such as a keychain that is locked. */
	unread: Store<Failure | undefined>;
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
		unread: store<Failure | undefined>(undefined),
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
		if (link.at === "ready") begin(wallet, link.hello);
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
 * alone: one that fails is read again, ever more seldom, while this daemon is there. */
function begin(wallet: Wallet, hello: Hello): void {
	wallet.hello.set(hello);
	for (const read of [readKeys, readNetworks, readProviders, readOrders, readSettings]) void insist(() => read(wallet), () => wallet.hello.get() === hello && wallet.link.get().at === "ready");
}

/** Refusals of a keychain that may have put a prompt up: only a person asks again, or
 * prompts would follow each other. */
const prompted = ["keychain_locked", "keychain_denied", "keychain_timeout"] as const;

async function insist(read: () => Promise<void>, wanted: () => boolean): Promise<void> {
	const backoff = new Backoff();
	do {
		try {
			return await read();
		} catch (thrown) {
			if (failureOf(thrown).is(...prompted)) return;
			await new Promise((resolve) => setTimeout(resolve, backoff.next()));
		}
	} while (wanted());
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

/** newest drops an answer that comes after that to a later question of its kind: the
 * daemon answers in any order, and an older answer may tell of an older state. One that
 * comes while a later question is open is taken: answers may be slower than questions. */
function newest<R>(ask: (wallet: Wallet) => Promise<R>, take: (wallet: Wallet, answer: R) => void): (wallet: Wallet) => Promise<void> {
	const turns = new WeakMap<Wallet, { asked: number; taken: number }>();
	return async (wallet) => {
		const turn = turns.get(wallet) ?? { asked: 0, taken: 0 };
		turns.set(wallet, turn);
		const own = ++turn.asked;
		const answer = await ask(wallet);
		if (own < turn.taken) return;
		turn.taken = own;
		take(wallet, answer);
	};
}

const readKeys = newest(
	async ({ shell, unread }) => {
		try {
			return await Promise.all([shell.call("keys.status", {}), shell.call("keys.accounts", {}), kept("account")]);
		} catch (thrown) {
			unread.set(failureOf(thrown));
			throw thrown;
		}
	},
	(wallet, [status, { accounts }, before]) => {
		wallet.accounts.set(accounts);
		const shown = wallet.account.get()?.address ?? before;
		wallet.account.set(accounts.find((a) => a.address === shown) ?? accounts[0]);
		wallet.keys.set(status);
		wallet.unread.set(undefined);
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

const readBalances = newest(
	async ({ shell, account, active, link }) => {
		const [shown, chainId] = [account.get(), active.get()];
		if (!shown || chainId === 0 || link.get().at !== "ready") return undefined;
		return shell.call("tokens.balances", { account: shown.address, chainId, withBalance: true }).catch(() => undefined); // the last ones stay
	},
	(wallet, read) => {
		if (read && wallet.account.get()?.address === read.account && wallet.active.get() === read.chainId) wallet.balances.set(read.balances);
	},
);

const readPrices = newest(
	async ({ shell, active }) => {
		const chainId = active.get();
		return chainId === 0 ? undefined : shell.call("prices.list", { chainId, limit: 200 }).catch(() => undefined); // they are shown as unavailable
	},
	(wallet, read) => {
		if (read && wallet.active.get() === read.chainId) wallet.prices.set(new Map(read.prices.map((p) => [p.token.toLowerCase(), p])));
	},
);

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
	if (at >= 0 && orders[at]!.revision > order.revision && order.state !== "unreadable") return orders; // a damaged record has lost its number
	const others = orders.filter((o) => o.id !== order.id);
	const place = others.findIndex((o) => o.created < order.created);
	return place < 0 ? [...others, order] : [...others.slice(0, place), order, ...others.slice(place)];
}
