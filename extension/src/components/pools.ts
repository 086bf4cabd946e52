/** A Leg is one path of a split route: pools in sequence. */
export interface Leg {
	/** Percent of the input. */
	share: number;
	/** Uniswap version: "v3". */
	version: string;
	/** Percent, per pool; empty if not stated. */
	fees: readonly number[];
}

const leg = /^\[(v\d(?:\s*\+\s*v\d)*)\]\s*(\d{1,3}(?:\.\d+)?)\s*%(?:\s*=\s*(.*))?$/i;

/** parsePools parses the DEX provider's description of a route, such as "[v3] 60.00% =
 * [0.05%] 0xd0b5…, [v2] 40.00%". It is for display only: what is signed is decoded from the
 * calldata. undefined: malformed, or the shares do not add up to 100 %. */
export function parsePools(route: string): Leg[] | undefined {
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

/** feesOf returns undefined if a fee is not a number or above 100 %. */
function feesOf(pools: string): number[] | undefined {
	const fees = [...pools.matchAll(/(?<![\w.,+-])(\d{1,3}(?:\.\d+)?)\s*%/g)].map((m) => Number(m[1]));
	return fees.length === pools.split("%").length - 1 && fees.every((fee) => fee <= 100) ? fees : undefined;
}
