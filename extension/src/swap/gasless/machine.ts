import { type Machine, unsupportedOn } from "../machine";

/** gasless swaps on one network by a signed order that the provider settles. */
export const gasless: Machine = {
	kind: "gasless",
	crossChain: false,
	routes: false,
	unsupported: (provider, from) => unsupportedOn(provider, from),
};
