import { methods } from "../../wire/protocol";
import type { Methods } from "../../wire/protocol";
import type { Handler } from "./handler";

// Quotes and plans are for the panels, host.* methods for the background.
const others = /^host\.|^swap\.(quote|watch|prepare|execute)$/;

/** shell serves the rest of the wallet: keys, networks, tokens, prices, orders, settings. */
export const shell: Handler = {
	methods: (Object.keys(methods) as (keyof Methods)[]).filter((m) => !others.test(m)),
	wantsEvent: (event) => event !== "swap.quoted",
};
