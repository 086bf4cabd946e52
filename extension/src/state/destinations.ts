import { useEffect, useState } from "preact/hooks";
import type { Destination, Network, Provider, ProviderKind } from "../wire/protocol";
import { useWallet } from "./context";

/** How long an answer holds, and how soon a provider that gave none is asked again, in
 * ms. */
const holds = 10 * 60_000;
const again = 15_000;

const answers = new Map<ProviderKind, { at: number; destinations: readonly Destination[] }>();

/** known are the networks of ours that a provider pays out on, for when it cannot be
 * asked. */
export function known(networks: readonly Network[], provider: Provider | undefined): Destination[] {
	const served = networks.filter((n) => provider?.support[n.chainId]?.support === "active" && provider.support[n.chainId]?.crossChainEnabled);
	return served.map((n) => ({ chainId: n.chainId, name: n.name, symbol: n.symbol, decimals: n.decimals, known: true }));
}

/** useDestinations are the networks that a provider pays out on, as it says; undefined
 * until it has said it. While it gives no answer they are those of our own that it
 * serves, and it is asked again. */
export function useDestinations(provider: ProviderKind): readonly Destination[] | undefined {
	const wallet = useWallet();
	const [shown, show] = useState(() => answers.get(provider)?.destinations);
	useEffect(() => {
		let timer: ReturnType<typeof setTimeout> | undefined;
		let gone = false;
		const ask = async () => {
			const answer = answers.get(provider);
			if (answer && Date.now() - answer.at < holds) return show(answer.destinations);
			try {
				const { destinations } = await wallet.shell.call("swap.destinations", { provider });
				answers.set(provider, { at: Date.now(), destinations });
				if (!gone) show(destinations);
			} catch {
				if (gone) return;
				show((before) => before ?? known(wallet.networks.get(), wallet.providers.get().find((p) => p.kind === provider)));
				timer = setTimeout(ask, again);
			}
		};
		void ask();
		return () => {
			gone = true;
			clearTimeout(timer);
		};
	}, [wallet, provider]);
	return shown;
}
