/** A Leg is one of the ways that a swap is shared out over: pools in a row. */
export interface Leg {
	/** Percent of the input. */
	share: number;
	/** As Uniswap calls its versions: "v3". */
	version: string;
	/** Percent, of each pool; none: they were not told. */
	fees: readonly number[];
}

const leg = /^\[(v\d(?:\s*\+\s*v\d)*)\]\s*(\d{1,3}(?:\.\d+)?)\s*%(?:\s*=\s*(.*))?$/i;

/** readPools reads the DEX provider's words for a route, such as
 * "[v3] 60.00% = [0.05%] 0xd0b5…, [v2] 40.00%". They decide nothing: what is signed is
 * read from its bytes. undefined: it is not understood, or not all of it is there. */
export function readPools(route: string): Leg[] | undefined {
	const legs = route.split(/,\s*(?=\[)/).map((part) => leg.exec(part.trim()));
	const read = legs.flatMap((m) => (m ? [{ version: m[1]!.toLowerCase(), share: Number(m[2]), fees: feesOf(m[3] ?? "") }] : []));
	const all = read.reduce((sum, { share }) => sum + share, 0);
	return read.length === legs.length && Math.abs(all - 100) < 0.5 ? read : undefined;
}

const feesOf = (pools: string) => [...pools.matchAll(/(\d{1,2}(?:\.\d+)?)\s*%/g)].map((m) => Number(m[1]));
