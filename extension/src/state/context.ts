import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Wallet } from "./wallet";

const context = createContext<Wallet | undefined>(undefined);

export const WalletProvider = context.Provider;

/** useWallet returns the wallet of this window. */
export function useWallet(): Wallet {
	const wallet = useContext(context);
	if (!wallet) throw new Error("no wallet around this view");
	return wallet;
}
