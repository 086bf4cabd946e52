import { crossing, type Machine, onActive } from "../machine";

/** The intent provider offers several routes for one swap; the user picks one, and a
 * route whose quote has expired is not carried out. */
export const intent: Machine = {
	kind: "intent",
	crossChain: true,
	routes: true,
	unsupported: (provider, from, to) => onActive(provider, from) ?? crossing(provider, from, to),
};
