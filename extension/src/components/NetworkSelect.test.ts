import { expect, test } from "vitest";
import { matchingNetworks } from "./NetworkSelect";

const networks = [
	{ chainId: 1, name: "Ethereum", known: true },
	{ chainId: 324, name: "zkSync Era", known: false },
	{ chainId: 10, name: "OP Mainnet", known: true },
	{ chainId: 100, name: "Gnosis", known: false },
];

test.each<[string, number[], number[]]>([
	["", [1, 10], [324, 100]],
	["ERE", [1], []],
	[" sync ", [], [324]],
	["10", [10], [100]],
	["24", [], []], // chain ids match from the start
])("%j finds %j and %j", (query, known, others) => {
	const ids = (list: { chainId: number }[]) => list.map((n) => n.chainId);
	const rows = matchingNetworks(networks, query);
	expect([ids(rows.known), ids(rows.others)]).toEqual([known, others]);
});
