import { unsupportedRoute, type Machine, unsupportedOn } from "../machine";

/** intent offers several routes for one swap; the user picks one. A route whose quote has
 * expired cannot be used. */
export const intent: Machine = {
	kind: "intent",
	crossChain: true,
	routes: true,
	unsupported: (provider, from, to) => unsupportedOn(provider, from) ?? unsupportedRoute(provider, from, to),
};
