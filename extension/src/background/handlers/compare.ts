import type { Handler } from "./handler";

/** Offers of all providers beside each other, to look at: it prepares nothing. */
export const compare: Handler = {
	methods: ["swap.quote"],
	narrow: (_, params) => ({ ...params, watch: false }), // the watch is a panel's
	hears: () => false,
};
