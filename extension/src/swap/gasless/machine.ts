import { type Machine, onActive } from "../machine";

/** The gasless provider swaps on one network by a signed order, which it settles. */
export const gasless: Machine = {
	kind: "gasless",
	crossChain: false,
	routes: false,
	unsupported: (provider, from) => onActive(provider, from),
};
