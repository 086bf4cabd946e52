import { crossing, type Machine, onActive } from "../machine";

/** The bridge pays from the active network and to any that it reaches, the same one
 * included. */
export const bridge: Machine = {
	kind: "bridge",
	crossChain: true,
	routes: false,
	unsupported: (provider, from, to) => onActive(provider, from) ?? crossing(provider, from, to),
};
