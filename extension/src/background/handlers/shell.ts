import { methods } from "../../wire/protocol";
import type { Methods } from "../../wire/protocol";
import type { Handler } from "./handler";

// Quotes and plans belong to the panels; the host's own methods to the background.
const others = /^host\.|^swap\.(quote|watch|prepare|execute)$/;

/** The wallet around the panels: keys, networks, tokens, prices, orders, settings. */
export const shell: Handler = {
	methods: (Object.keys(methods) as (keyof Methods)[]).filter((m) => !others.test(m)),
	hears: (event) => event !== "swap.quoted",
};
