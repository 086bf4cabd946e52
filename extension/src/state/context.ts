import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Connection } from "./connection";
import type { NetworkData } from "./network-data";
import type { Orders } from "./orders";
import type { Wallet } from "./wallet";

const context = createContext<Wallet | undefined>(undefined);

export const WalletProvider = context.Provider;

function useWallet(): Wallet {
	const wallet = useContext(context);
	if (!wallet) throw new Error("no wallet around this view");
	return wallet;
}

/** useConnection returns the connection to the daemon, its settings, wallets and accounts. */
export const useConnection = (): Connection => useWallet().connection;

/** useNetworkData returns networks, providers, balances, prices and gas. */
export const useNetworkData = (): NetworkData => useWallet().network;

/** useOrders returns the orders of all accounts. */
export const useOrders = (): Orders => useWallet().orders;
