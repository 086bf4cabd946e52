import type { Channel } from "./channel";
import { type Connection, createConnection } from "./connection";
import { createNetworkData, type NetworkData } from "./network-data";
import { createOrders, type Orders } from "./orders";

/** A Wallet is the daemon's state as this window shows it, in three groups. Everything is
 * read again when the daemon restarts. */
export interface Wallet {
	connection: Connection;
	network: NetworkData;
	orders: Orders;
}

export function createWallet(shell: Channel): Wallet {
	const connection = createConnection(shell);
	const network = createNetworkData(connection);
	const orders = createOrders(connection, () => void network.refreshBalances());
	return { connection, network, orders };
}
