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
	const legs: Leg[] = [];
	for (const part of route.split(/,\s*(?=\[)/)) {
		const m = leg.exec(part.trim());
		const fees = feesOf(m?.[3] ?? "");
		if (!m || !fees) return undefined;
		legs.push({ version: m[1]!.toLowerCase(), share: Number(m[2]), fees });
	}
	const all = legs.reduce((sum, { share }) => sum + share, 0);
	return Math.abs(all - 100) < 0.5 ? legs : undefined;
}

/** undefined: one of them is no percentage, or more than all. */
function feesOf(pools: string): number[] | undefined {
	const fees = [...pools.matchAll(/(?<![\w.,+-])(\d{1,3}(?:\.\d+)?)\s*%/g)].map((m) => Number(m[1]));
	return fees.length === pools.split("%").length - 1 && fees.every((fee) => fee <= 100) ? fees : undefined;
}
