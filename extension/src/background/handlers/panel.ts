import type { Events, Methods, Order, ProviderKind } from "../../wire/protocol";
import type { Handler } from "./handler";

/** The methods that every panel uses: quote, prepare, consent, and follow, cancel, close or
 * speed up the order. */
const panelMethods = [
	"swap.quote", "swap.watch", "swap.prepare", "swap.execute", "swap.accept", "swap.order", "swap.orders", "swap.cancel", "swap.close", "swap.speedup",
] as const satisfies readonly (keyof Methods)[];

/** panelHandler returns the handler of one provider's panel. It forces that provider on quotes
 * and on the methods in `more`, whatever the page sent, and passes on only its orders. */
export function panelHandler(kind: ProviderKind, more: readonly (keyof Methods)[] = []): Handler {
	return {
		methods: [...panelMethods, ...more],
		narrow: (method, params) => (method === "swap.quote" ? { ...params, providers: [kind] } : more.includes(method) ? { ...params, provider: kind } : params),
		wantsEvent: (event, params) => (event === "swap.order" ? (params as Partial<Order>).terms?.provider === kind : heard.has(event)),
	};
}

// swap.quoted is routed to the page that asked (Watches), so it is not listed here.
const heard = new Set<keyof Events>(["gas.price"]);
