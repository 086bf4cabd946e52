import type { Tone } from "../order/standing";
import type { Network, Provider, ProviderKind, RPC } from "../wire/protocol";

/** How each state looks. */
export const tones: Record<EndpointState | NetworkState, Tone> = {
	good: "good", partly: "warn", silent: "critical", none: "critical", unused: "neutral", answers: "good", behind: "warn", fails: "critical",
};

/** How one RPC endpoint stands: unused was not asked yet. */
export type EndpointState = "answers" | "fails" | "behind" | "unused";

export function endpointState(rpc: RPC): EndpointState {
	if (rpc.failure) return "fails";
	if (rpc.behind) return "behind";
	return rpc.block === undefined ? "unused" : "answers";
}

/** How a network stands: some endpoint answers, none does, or none was asked yet. */
export type NetworkState = "good" | "partly" | "silent" | "unused" | "none";

export function networkState(network: Pick<Network, "rpc">): { state: NetworkState; answering: number; all: number } {
	const states = network.rpc.map(endpointState);
	const answering = states.filter((s) => s === "answers").length;
	const all = states.length;
	return { state: stateOf(states, answering), answering, all };
}

function stateOf(states: readonly EndpointState[], answering: number): NetworkState {
	if (states.length === 0) return "none";
	if (answering === 0) return states.includes("unused") ? "unused" : "silent";
	return states.some((s) => s === "fails" || s === "behind") ? "partly" : "good";
}

/** Support of a network by each provider, in the providers' order. disabled: its
 * provider is off or not set up here. */
export type SupportWord = "active" | "disabled" | "none";

export function supportOf(providers: readonly Provider[], chainId: number): { kind: ProviderKind; word: SupportWord; note: string | undefined }[] {
	return providers.map((p) => {
		const support = p.support[String(chainId)];
		if (!support || support.support === "not supported") return { kind: p.kind, word: "none", note: support?.note };
		const word = support.support === "active" && p.ready ? "active" : "disabled";
		return { kind: p.kind, word, note: support.note ?? p.reason };
	});
}
