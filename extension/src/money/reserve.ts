import type { GasPrice, ProviderKind } from "../wire/protocol";

/** Gas that paying with the coin may take, in units, before there is an offer that says
 * how much. Generous: what is left over stays in the wallet, what is missing blocks. */
const limits: Readonly<Record<ProviderKind, bigint>> = {
	dex: 400_000n, // a swap over two pools, 250,000; wrapping and approving for the auction route, 95,000
	bridge: 300_000n, // a deposit, 150,000, twice for routes that swap before they leave
	intent: 400_000n, // a deposit of unknown content, 200,000, twice: some routes ask for more than they use
	gasless: 150_000n, // the order costs nothing; wrapping and approving before it, 95,000
};

/** How many times the data of a plain transfer, about 110 bytes, a swap's is. */
const transfers = 12n;

/** reserve is the most of the native coin that can be swapped, in wei: the balance
 * without what gas may cost at the fast tier's price, and its data on L1. undefined while the
 * gas price is not known. */
export function reserve(balance: string, gas: GasPrice | undefined, kind: ProviderKind): string | undefined {
	const perUnit = gas?.fast.maxFeePerGas ?? gas?.fast.gasPrice;
	if (!gas || perUnit === undefined) return undefined;
	const kept = limits[kind] * BigInt(perUnit) + BigInt(gas.l1Transfer ?? "0") * transfers;
	const left = BigInt(balance) - kept;
	return (left > 0n ? left : 0n).toString();
}
