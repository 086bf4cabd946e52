import type { Events, Methods, Order, ProviderKind } from "../../wire/protocol";
import type { Handler } from "./handler";

/** What every panel does: ask for quotes, have one prepared, consent, follow and
 * steer the order. */
const life = [
	"swap.quote", "swap.watch", "swap.prepare", "swap.execute", "swap.accept", "swap.order", "swap.orders", "swap.cancel", "swap.speedup",
] as const satisfies readonly (keyof Methods)[];

/** panelHandler serves one provider's panel. What is asked through it is asked of that
 * provider, whatever the page says, and it hears of that provider's orders alone.
 * `more` are methods that take a provider. */
export function panelHandler(kind: ProviderKind, more: readonly (keyof Methods)[] = []): Handler {
	return {
		methods: [...life, ...more],
		narrow: (method, params) => (method === "swap.quote" ? { ...params, providers: [kind] } : more.includes(method) ? { ...params, provider: kind } : params),
		hears: (event, params) => (event === "swap.order" ? (params as Partial<Order>).terms?.provider === kind : heard.has(event)),
	};
}

// swap.quoted goes to the page that asked, and needs no subscription.
const heard = new Set<keyof Events>(["gas.price"]);
