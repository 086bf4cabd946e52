import type { Handler } from "./handler";

/** compare serves the side-by-side view of all providers' offers. It can only quote, never
 * prepare a plan. */
export const compare: Handler = {
	methods: ["swap.quote"],
	narrow: (_, params) => ({ ...params, watch: false }), // only a panel's quote is kept up to date
	wantsEvent: () => false,
};
