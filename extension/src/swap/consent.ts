import type { FindingCode, Order } from "../wire/protocol";
import { failureOf } from "../wire/failure";
import type { Channel } from "../state/channel";

/** How long to wait for a daemon that went away, in ms. */
const reconnectTimeout = 60_000;

/** How often the orders are read after a lost answer, and the pause in between, in ms: the
 * request may still be on its way to the daemon. */
const searchAttempts = 2;
const pause = 2_000;

/** How many of the newest orders are searched. */
const newest = 20;

/** Consent is what the user consented to: the plan with that digest, once, under that uuid. */
export interface Consent {
	review: { digest: string };
	acknowledged: readonly FindingCode[];
	request: string;
}

/** execute sends the consent, once, with the password if one is given. If the answer is lost it
 * does not send again, but looks for the order in the daemon's list. It rejects with a Failure. */
export async function execute(channel: Channel, { review, acknowledged, request }: Consent, password?: string): Promise<Order> {
	try {
		return await channel.call("swap.execute", { request, digest: review.digest, acknowledge: [...acknowledged], ...(password ? { password } : {}) });
	} catch (thrown) {
		const failure = failureOf(thrown);
		const made = await existingOrder(channel, request, failure).catch(() => undefined);
		if (made) return made;
		throw failure;
	}
}

/** existingOrder returns the order that the plan became although consent was refused or not
 * answered; undefined if there is none. */
async function existingOrder(channel: Channel, request: string, { name, details }: { name: string; details: Readonly<Record<string, string>> }): Promise<Order | undefined> {
	switch (name) {
		case "plan_executed": // by an earlier consent whose answer was lost
			return details["order"] ? (await channel.call("swap.order", { order: details["order"] })).order : undefined;
		case "daemon_lost":
		case "timed_out":
		case "stopping":
			return findOrder(channel, request);
		default:
			return undefined;
	}
}

async function findOrder(channel: Channel, request: string): Promise<Order | undefined> {
	const end = Date.now() + reconnectTimeout;
	for (let look = 0; look < searchAttempts && Date.now() < end; ) {
		try {
			const { orders } = await channel.call("swap.orders", { limit: newest });
			const made = orders.find((o) => o.request === request);
			if (made) return made;
			look++;
			if (look < searchAttempts) await new Promise((resolve) => setTimeout(resolve, pause));
		} catch {
			await ready(channel, end - Date.now());
		}
	}
	return undefined;
}

/** ready waits until the daemon is back, at most `most` ms. */
function ready(channel: Channel, most: number): Promise<void> {
	return new Promise((resolve) => {
		const done = () => {
			clearTimeout(late);
			forget();
			resolve();
		};
		const late = setTimeout(done, most);
		const forget = channel.onLink((link) => link.at === "ready" && done());
	});
}
