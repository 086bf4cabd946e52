import { type Machine, unsupportedOn } from "../machine";

/** dex swaps on one network, through pools or by auction. */
export const dex: Machine = {
	kind: "dex",
	crossChain: false,
	routes: true,
	unsupported: (provider, from) => unsupportedOn(provider, from),
};
