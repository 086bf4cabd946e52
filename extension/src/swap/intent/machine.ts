import { crossing, type Machine, onActive } from "../machine";

/** intent offers several routes for one swap; the user picks one. A route whose quote has
 * expired cannot be used. */
export const intent: Machine = {
	kind: "intent",
	crossChain: true,
	routes: true,
	unsupported: (provider, from, to) => onActive(provider, from) ?? crossing(provider, from, to),
};
