import { useEffect, useState } from "preact/hooks";
import type { Destination, Network, Provider, ProviderKind } from "../wire/protocol";
import { useConnection, useNetworkData } from "./context";

/** How long an answer is cached, and the pause after a failed request, in ms. */
const cacheTime = 10 * 60_000;
const retryAfter = 15_000;

const answers = new Map<ProviderKind, { at: number; destinations: readonly Destination[] }>();

/** fallbackDestinations returns the wallet's own networks that a provider pays out on, for
 * use while the provider does not answer. */
export function fallbackDestinations(networks: readonly Network[], provider: Provider | undefined): Destination[] {
	const served = networks.filter((n) => !n.ended && provider?.support[n.chainId]?.support === "active" && provider.support[n.chainId]?.crossChainEnabled);
	return served.map((n) => ({ chainId: n.chainId, name: n.name, symbol: n.symbol, decimals: n.decimals, known: true }));
}

/** useDestinations returns the networks that a provider pays out on; undefined until it has
 * answered. While it fails, they are the wallet's own networks that it serves, and the
 * request is repeated. */
export function useDestinations(provider: ProviderKind): readonly Destination[] | undefined {
	const { shell } = useConnection();
	const { networks, providers } = useNetworkData();
	const [shown, show] = useState(() => answers.get(provider)?.destinations);
	useEffect(() => {
		let timer: ReturnType<typeof setTimeout> | undefined;
		let gone = false;
		const ask = async () => {
			const answer = answers.get(provider);
			if (answer && Date.now() - answer.at < cacheTime) return show(answer.destinations);
			try {
				const { destinations } = await shell.call("swap.destinations", { provider });
				answers.set(provider, { at: Date.now(), destinations });
				if (!gone) show(destinations);
			} catch {
				if (gone) return;
				show((before) => before ?? fallbackDestinations(networks.get(), providers.get().find((p) => p.kind === provider)));
				timer = setTimeout(ask, retryAfter);
			}
		};
		void ask();
		return () => {
			gone = true;
			clearTimeout(timer);
		};
	}, [shell, networks, providers, provider]);
	return shown;
}
