import type { Account, Hello, KeysStatus, Pending, Setting } from "../wire/protocol";
import { type Failure, failureOf } from "../wire/failure";
import type { Link } from "../wire/link";
import { readStored, writeStored } from "./browser-storage";
import type { Channel } from "./channel";
import { latestAnswer, readOn, retryUntilAnswered } from "./refresh";
import { store, type Store } from "./store";

/** A Connection is this window's connection to the daemon, with the daemon's settings, its
 * wallets and the selected account. */
export interface Connection {
	shell: Channel;
	link: Store<Link>;
	/** Of the daemon that is or was last connected. */
	hello: Store<Hello | undefined>;
	settings: Store<readonly Setting[]>;
	keys: Store<KeysStatus | undefined>;
	/** Why the wallets cannot be read, for example a locked keychain. */
	keysFailure: Store<Failure | undefined>;
	accounts: Store<readonly Account[]>;
	/** What waits for a confirmation outside the browser, oldest first. */
	waiting: Store<readonly Pending[]>;
	/** The selected account; undefined if there is none. */
	account: Store<Account | undefined>;
	choose(account: Account): void;
}

export function createConnection(shell: Channel): Connection {
	const connection: Connection = {
		shell,
		link: store<Link>({ at: "connecting" }),
		hello: store<Hello | undefined>(undefined),
		settings: store<readonly Setting[]>([]),
		keys: store<KeysStatus | undefined>(undefined),
		keysFailure: store<Failure | undefined>(undefined),
		accounts: store<readonly Account[]>([]),
		waiting: store<readonly Pending[]>([]),
		account: store<Account | undefined>(undefined),
		choose(account) {
			writeStored("account", account.address);
			connection.account.set(account);
		},
	};
	shell.onLink((link) => {
		connection.link.set(link);
		if (link.at === "ready") connection.hello.set(link.hello);
	});
	keepKeys(connection);
	keepSettings(connection);
	keepWaiting(connection);
	return connection;
}

/** readWhenReady calls `read` for each daemon that connects. A failed read is repeated with
 * backoff while that daemon is connected. */
export function readWhenReady({ shell, link, hello }: Connection, read: () => Promise<void>): void {
	shell.onLink((now) => {
		if (now.at === "ready") void retryUntilAnswered(read, () => hello.get() === now.hello && link.get().at === "ready");
	});
}

function keepKeys(connection: Connection): void {
	const { shell, keys, keysFailure, accounts, account } = connection;
	const read = latestAnswer(
		async () => {
			try {
				return await Promise.all([shell.call("keys.status", {}), shell.call("keys.accounts", {}), readStored("account")]);
			} catch (thrown) {
				keysFailure.set(failureOf(thrown));
				throw thrown;
			}
		},
		([status, { accounts: all }, before]) => {
			accounts.set(all);
			const shown = account.get()?.address ?? before;
			account.set(all.find((a) => a.address === shown) ?? all[0]);
			keys.set(status);
			keysFailure.set(undefined);
		},
	);
	readWhenReady(connection, read);
	readOn(shell, "keys.changed", read);
}

function keepWaiting({ shell, waiting }: Connection): void {
	shell.onLink((link) => {
		if (link.at !== "ready") return waiting.set([]);
		shell.call("confirm.pending", {}).then(
			(answer) => waiting.set(answer.waiting),
			() => waiting.set([]), // an older daemon, or it is gone again; what comes is told
		);
	});
	shell.on("confirm.changed", (told) => waiting.set(told.waiting));
}

function keepSettings(connection: Connection): void {
	const { shell, settings } = connection;
	const read = latestAnswer(() => shell.call("settings.get", {}), (answer) => settings.set(answer.settings));
	readWhenReady(connection, read);
	readOn(shell, "settings.changed", read);
}
