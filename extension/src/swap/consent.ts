import type { FindingCode, Order } from "../wire/protocol";
import { failureOf } from "../wire/failure";
import type { Channel } from "../state/channel";

/** How long a daemon that went away is waited for, in ms. */
const patience = 60_000;

/** How often its book is read, and the pause between, in ms: what was asked for may
 * still be on its way there. */
const looks = 2;
const pause = 2_000;

/** The newest orders among which a lost one is looked for. */
const newest = 20;

/** What a person consented to: the plan of that digest, once, under that uuid. */
export interface Consent {
	review: { digest: string };
	acknowledged: readonly FindingCode[];
	request: string;
}

/** execute hands consent over, once, with the password where that is asked for. When its answer is lost it is not sent again: the
 * daemon's own book tells whether it had it. It rejects with a Failure. */
export async function execute(channel: Channel, { review, acknowledged, request }: Consent, password?: string): Promise<Order> {
	try {
		return await channel.call("swap.execute", { request, digest: review.digest, acknowledge: [...acknowledged], ...(password ? { password } : {}) });
	} catch (thrown) {
		const failure = failureOf(thrown);
		const made = await madeBefore(channel, request, failure).catch(() => undefined);
		if (made) return made;
		throw failure;
	}
}

/** madeBefore is the order that the plan became although consent to it was refused or
 * got no answer; undefined: there is none. */
async function madeBefore(channel: Channel, request: string, { name, details }: { name: string; details: Readonly<Record<string, string>> }): Promise<Order | undefined> {
	switch (name) {
		case "plan_executed": // by an earlier consent to it whose answer was lost
			return details["order"] ? (await channel.call("swap.order", { order: details["order"] })).order : undefined;
		case "daemon_lost":
		case "timed_out":
		case "stopping":
			return lookFor(channel, request);
		default:
			return undefined;
	}
}

async function lookFor(channel: Channel, request: string): Promise<Order | undefined> {
	const end = Date.now() + patience;
	for (let look = 0; look < looks && Date.now() < end; ) {
		try {
			const { orders } = await channel.call("swap.orders", { limit: newest });
			const made = orders.find((o) => o.request === request);
			if (made) return made;
			look++;
			if (look < looks) await new Promise((resolve) => setTimeout(resolve, pause));
		} catch {
			await ready(channel, end - Date.now());
		}
	}
	return undefined;
}

/** ready waits until the daemon is there again, or for that long, in ms. */
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
