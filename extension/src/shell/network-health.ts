import type { Tone } from "../order/status";
import type { Network, Provider, ProviderKind, RPC } from "../wire/protocol";

/** The tone of each state. */
export const tones: Record<EndpointState | NetworkState, Tone> = {
	good: "good", partly: "warn", silent: "critical", none: "critical", ended: "neutral", unused: "neutral", answers: "good", behind: "warn", fails: "critical",
};

/** The state of one RPC endpoint; unused: it was not asked yet. */
export type EndpointState = "answers" | "fails" | "behind" | "unused";

export function endpointState(rpc: RPC): EndpointState {
	if (rpc.failure) return "fails";
	if (rpc.behind) return "behind";
	return rpc.block === undefined ? "unused" : "answers";
}

/** The state of a network. good: an endpoint answers, and none fails or is behind. partly: some
 * fail or are behind. silent: none answers. unused: none answers, but not all were asked yet.
 * none: it has no endpoints. ended: it was shut down. */
export type NetworkState = "good" | "partly" | "silent" | "unused" | "none" | "ended";

export function networkState(network: Pick<Network, "rpc" | "ended">): { state: NetworkState; answering: number; all: number } {
	const states = network.rpc.map(endpointState);
	const answering = states.filter((s) => s === "answers").length;
	const all = states.length;
	return { state: network.ended ? "ended" : stateOf(states, answering), answering, all };
}

function stateOf(states: readonly EndpointState[], answering: number): NetworkState {
	if (states.length === 0) return "none";
	if (answering === 0) return states.includes("unused") ? "unused" : "silent";
	return states.some((s) => s === "fails" || s === "behind") ? "partly" : "good";
}

/** A provider's support of a network. disabled: the provider is off or not configured. */
export type SupportWord = "active" | "disabled" | "none";

export function supportOf(providers: readonly Provider[], chainId: number): { kind: ProviderKind; word: SupportWord; note: string | undefined }[] {
	return providers.map((p) => {
		const support = p.support[String(chainId)];
		if (!support || support.support === "not_supported") return { kind: p.kind, word: "none", note: support?.note };
		const word = support.support === "active" && p.ready ? "active" : "disabled";
		return { kind: p.kind, word, note: support.note ?? p.reason };
	});
}
