import type { GasPrice, ProviderKind } from "../wire/protocol";

/** Gas units to keep back when the native coin is swapped and no offer tells the cost yet.
 * They are generous: an excess stays in the wallet, a shortage blocks the swap. */
const limits: Readonly<Record<ProviderKind, bigint>> = {
	dex: 400_000n, // two-pool swap 250,000; wrap and approve for the auction route 95,000
	bridge: 300_000n, // deposit 150,000, twice for routes that swap first
	intent: 400_000n, // deposit of unknown content 200,000, twice: some routes ask for more than they use
	gasless: 150_000n, // the order itself costs no gas; wrap and approve before it 95,000
};

/** A swap's calldata costs this many times that of a plain transfer (about 110 bytes) on L1. */
const transfers = 12n;

/** maxSpendable returns the most of the native coin that can be swapped, in wei: the balance
 * minus the likely gas cost at the fast tier, including L1 data. undefined while the gas price
 * is unknown. */
export function maxSpendable(balance: string, gas: GasPrice | undefined, kind: ProviderKind): string | undefined {
	const perUnit = gas?.fast.maxFeePerGas ?? gas?.fast.gasPrice;
	if (!gas || perUnit === undefined) return undefined;
	const kept = limits[kind] * BigInt(perUnit) + BigInt(gas.l1Transfer ?? "0") * transfers;
	const left = BigInt(balance) - kept;
	return (left > 0n ? left : 0n).toString();
}
