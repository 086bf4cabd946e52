import type {
	Account, Balance, Events, GasPrice, Hello, KeysStatus, Network, Order, Price, Provider, Setting,
} from "../wire/protocol";
import { type Failure, failureOf } from "../wire/failure";
import type { Link } from "../wire/link";
import { Backoff } from "../background/backoff";
import { batched } from "./batched";
import type { Channel } from "./channel";
import { writeStored, readStored } from "./browser-storage";
import { store, type Store } from "./store";

/** NATIVE is the token address that stands for a network's native coin. */
export const NATIVE = "0x0000000000000000000000000000000000000000";

/** How often balances are read while a window is visible, in ms. */
const balanceInterval = 12_000;

/** Orders per page. */
const orderPageSize = 50;

/** A Wallet is the daemon's state as this window shows it. Everything is read again when
 * the daemon restarts. */
export interface Wallet {
	shell: Channel;
	link: Store<Link>;
	hello: Store<Hello | undefined>;
	keys: Store<KeysStatus | undefined>;
	/** Why the wallets cannot be read, for example a locked keychain. */
	keysFailure: Store<Failure | undefined>;
	accounts: Store<readonly Account[]>;
	/** The selected account; undefined if there is none. */
	account: Store<Account | undefined>;
	networks: Store<readonly Network[]>;
	/** Chain id of the active network, 0 while unknown. */
	active: Store<number>;
	providers: Store<readonly Provider[]>;
	/** Of the selected account on the active network; undefined while unknown. */
	balances: Store<readonly Balance[] | undefined>;
	/** On the active network, by lower-case address. */
	prices: Store<ReadonlyMap<string, Price>>;
	/** Newest first. */
	orders: Store<readonly Order[]>;
	/** Cursor of the next page of orders; undefined at the end. */
	moreOrders: Store<string | undefined>;
	gas: Store<GasPrice | undefined>;
	settings: Store<readonly Setting[]>;
	choose(account: Account): void;
	select(chainId: number): Promise<void>;
	refreshBalances(): Promise<void>;
	loadMoreOrders(): Promise<void>;
	/** learn merges an order that came in an answer, ahead of its notification. */
	mergeOrder(order: Order): void;
}

export function createWallet(shell: Channel): Wallet {
	const wallet: Wallet = {
		shell,
		link: store<Link>({ at: "connecting" }),
		hello: store<Hello | undefined>(undefined),
		keys: store<KeysStatus | undefined>(undefined),
		keysFailure: store<Failure | undefined>(undefined),
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
			writeStored("account", account.address);
			wallet.account.set(account);
		},
		async select(chainId) {
			await shell.call("networks.select", { chainId }); // networks.changed sets it, in the same order in all windows
		},
		refreshBalances: () => readBalances(wallet),
		async loadMoreOrders() {
			const cursor = wallet.moreOrders.get();
			if (cursor) await readOrders(wallet, cursor);
		},
		mergeOrder: (order) => wallet.orders.update((orders) => withOrder(orders, order)),
	};
	shell.onLink((link) => {
		wallet.link.set(link);
		if (link.at === "ready") readAll(wallet, link.hello);
	});
	listen(wallet);
	wallet.active.subscribe(() => onNetwork(wallet));
	let shown: string | undefined;
	wallet.account.subscribe((account) => {
		if (account?.address !== shown) wallet.balances.set(undefined);
		shown = account?.address;
		void readBalances(wallet);
	});
	setInterval(() => document.visibilityState === "visible" && void readBalances(wallet), balanceInterval);
	return wallet;
}

/** begin reads everything, at the start and after a restart of the daemon. A part that
 * fails is retried alone, with backoff, while this daemon is connected. */
function readAll(wallet: Wallet, hello: Hello): void {
	wallet.hello.set(hello);
	for (const read of [readKeys, readNetworks, readProviders, readOrders, readSettings]) void retryUntilAnswered(() => read(wallet), () => wallet.hello.get() === hello && wallet.link.get().at === "ready");
}

/** Keychain errors that may have shown a prompt. They are not retried, as prompts would
 * follow each other; the user has to try again. */
const promptErrors = ["keychain_locked", "keychain_denied", "keychain_timeout"] as const;

async function retryUntilAnswered(read: () => Promise<void>, wanted: () => boolean): Promise<void> {
	const backoff = new Backoff();
	do {
		try {
			return await read();
		} catch (thrown) {
			if (failureOf(thrown).is(...promptErrors)) return;
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
				// the last values stay; a restarted daemon has everything read again
			}
		});
	}
}

/** newest drops an answer that arrives after the answer to a later request of its kind,
 * since the daemon answers in any order and the older one may be outdated. While the later
 * request is unanswered, an older answer is used. */
function latestAnswer<R>(ask: (wallet: Wallet) => Promise<R>, take: (wallet: Wallet, answer: R) => void): (wallet: Wallet) => Promise<void> {
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

const readKeys = latestAnswer(
	async ({ shell, keysFailure }) => {
		try {
			return await Promise.all([shell.call("keys.status", {}), shell.call("keys.accounts", {}), readStored("account")]);
		} catch (thrown) {
			keysFailure.set(failureOf(thrown));
			throw thrown;
		}
	},
	(wallet, [status, { accounts }, before]) => {
		wallet.accounts.set(accounts);
		const shown = wallet.account.get()?.address ?? before;
		wallet.account.set(accounts.find((a) => a.address === shown) ?? accounts[0]);
		wallet.keys.set(status);
		wallet.keysFailure.set(undefined);
	},
);

const readNetworks = latestAnswer(
	({ shell }) => shell.call("networks.list", {}),
	(wallet, { active, networks }) => {
		wallet.networks.set(networks);
		if (wallet.active.get() === active) onNetwork(wallet);
		wallet.active.set(active);
	},
);

const readProviders = latestAnswer(
	({ shell }) => shell.call("swap.providers", {}),
	(wallet, { providers }) => wallet.providers.set(providers),
);

const readSettings = latestAnswer(
	({ shell }) => shell.call("settings.get", {}),
	(wallet, { settings }) => wallet.settings.set(settings),
);

/** onNetwork drops the data of the previous network and reads that of the active one. */
function onNetwork(wallet: Wallet): void {
	wallet.balances.set(undefined);
	wallet.prices.set(new Map());
	wallet.gas.set(undefined);
	void readBalances(wallet);
	void readPrices(wallet);
	const chainId = wallet.active.get();
	wallet.shell.call("gas.watch", { chainId }).then(({ price }) => price && onGas(wallet, price)).catch(() => {}); // otherwise the next block brings it
}

/** onGas ends the watch of a network that is no longer active: the daemon goes on notifying
 * until told to stop. */
function onGas(wallet: Wallet, price: GasPrice): void {
	const active = wallet.active.get();
	if (price.chainId === active) wallet.gas.set(price);
	else if (active !== 0) wallet.shell.call("gas.watch", { chainId: price.chainId, stop: true }).catch(() => {}); // if this fails, the next price repeats it
}

const readBalances = latestAnswer(
	async ({ shell, account, active, link }) => {
		const [shown, chainId] = [account.get(), active.get()];
		if (!shown || chainId === 0 || link.get().at !== "ready") return undefined;
		return shell.call("tokens.balances", { account: shown.address, chainId, withBalance: true }).catch(() => undefined); // the last ones stay
	},
	(wallet, read) => {
		if (read && wallet.account.get()?.address === read.account && wallet.active.get() === read.chainId) wallet.balances.set(read.balances);
	},
);

const readPrices = latestAnswer(
	async ({ shell, active }) => {
		const chainId = active.get();
		return chainId === 0 ? undefined : shell.call("prices.list", { chainId, limit: 200 }).catch(() => undefined); // shown as unavailable
	},
	(wallet, read) => {
		if (read && wallet.active.get() === read.chainId) wallet.prices.set(new Map(read.prices.map((p) => [p.token.toLowerCase(), p])));
	},
);

async function readOrders(wallet: Wallet, cursor?: string): Promise<void> {
	const before = new Set(wallet.orders.get());
	const page = await wallet.shell.call("swap.orders", cursor ? { limit: orderPageSize, cursor } : { limit: orderPageSize });
	// Orders that changed while this was asked are newer than the answer, or not in it.
	wallet.orders.update((orders) => page.orders.reduce(withOrder, cursor ? orders : orders.filter((o) => !before.has(o))));
	wallet.moreOrders.set(page.cursor);
}

/** withOrder merges an order into a list, newest first. Of two with one id, the higher
 * revision is kept, in whichever order they arrive. */
export function withOrder(orders: readonly Order[], order: Order): readonly Order[] {
	const at = orders.findIndex((o) => o.id === order.id);
	if (at >= 0 && orders[at]!.revision > order.revision && order.state !== "unreadable") return orders; // a damaged record has no revision number
	const others = orders.filter((o) => o.id !== order.id);
	const place = others.findIndex((o) => o.created < order.created);
	return place < 0 ? [...others, order] : [...others.slice(0, place), order, ...others.slice(place)];
}
