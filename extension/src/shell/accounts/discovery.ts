import type { Discovery, Network } from "../../wire/protocol";

/** A Search is the progress of a search for used accounts. */
export interface Search {
	checked: number;
	found: number;
	/** Names of the networks that did not answer. */
	unreachable: readonly string[];
	state: "running" | "done" | "broken";
}

/** searchOf converts the daemon's notification. */
export function searchOf(discovery: Discovery, networks: readonly Pick<Network, "chainId" | "name">[]): Search {
	const { checked, found, unreachable, done, error } = discovery;
	return {
		checked,
		found: found.length,
		unreachable: unreachable.map((id) => networks.find((n) => n.chainId === id)?.name ?? String(id)),
		state: error ? "broken" : done ? "done" : "running",
	};
}

/** searchStarted is a search that has just been started. */
export const searchStarted: Search = { checked: 0, found: 0, unreachable: [], state: "running" };
