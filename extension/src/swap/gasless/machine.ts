import { type Machine, onActive } from "../machine";

/** gasless swaps on one network by a signed order that the provider settles. */
export const gasless: Machine = {
	kind: "gasless",
	crossChain: false,
	routes: false,
	unsupported: (provider, from) => onActive(provider, from),
};
