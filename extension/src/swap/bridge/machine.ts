import { unsupportedRoute, type Machine, unsupportedOn } from "../machine";

/** bridge swaps from the active network to any that the bridge reaches, including the same one. */
export const bridge: Machine = {
	kind: "bridge",
	crossChain: true,
	routes: false,
	unsupported: (provider, from, to) => unsupportedOn(provider, from) ?? unsupportedRoute(provider, from, to),
};
