import type { Order } from "../wire/protocol";

/** What the toolbar's icon says of orders that ended while no page was open: their
 * number, in the colour of the worst. */
const colours = { good: "#0f6e63", bad: "#b3261e" };

export class Badge {
	private ended = new Map<string, boolean>();

	constructor(private readonly action: Pick<typeof chrome.action, "setBadgeText" | "setBadgeBackgroundColor">) {}

	/** order counts one that ended unseen. The daemon repeats some changes. */
	order(order: Order): void {
		if (!order.final) return;
		this.ended.set(order.id, order.state === "filled");
		this.show();
	}

	/** seen when a page is opened: it shows the orders themselves. */
	seen(): void {
		this.ended.clear();
		this.show();
	}

	private show(): void {
		const good = [...this.ended.values()].every(Boolean);
		void this.action.setBadgeText({ text: this.ended.size > 0 ? String(this.ended.size) : "" });
		void this.action.setBadgeBackgroundColor({ color: good ? colours.good : colours.bad });
	}
}
