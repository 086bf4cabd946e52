import { type Machine, onActive } from "../machine";

/** The DEX swaps on one network: by a route through pools, or by an auction. */
export const dex: Machine = {
	kind: "dex",
	crossChain: false,
	routes: true,
	unsupported: (provider, from) => onActive(provider, from),
};
