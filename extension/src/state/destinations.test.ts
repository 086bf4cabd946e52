import { expect, test } from "vitest";
import type { Network, Provider } from "../wire/protocol";
import { fallbackDestinations } from "./destinations";

const network = (chainId: number, name: string): Network => ({ chainId, name, symbol: "ETH", decimals: 18, depth: 1, blockTimeSeconds: 2, fees: "eip1559", gasCeiling: "1", rpc: [] });

test("a provider that cannot be asked pays out on those of our networks that it serves across chains", () => {
	const support = {
		"1": { support: "active", crossChainEnabled: true },
		"143": { support: "not_supported", crossChainEnabled: false },
		"8453": { support: "active", crossChainEnabled: false },
		"5330": { support: "disabled", crossChainEnabled: true },
		"10": { support: "active", crossChainEnabled: true },
	} as const;
	const provider = { kind: "bridge", ready: true, support } as unknown as Provider;
	const networks = [network(1, "Ethereum"), network(143, "Monad"), network(8453, "Base"), network(5330, "Superseed"), network(7, "new"), { ...network(10, "ended"), ended: "2026-08-15T00:00:00Z" }];
	expect(fallbackDestinations(networks, provider)).toEqual([{ chainId: 1, name: "Ethereum", symbol: "ETH", decimals: 18, known: true }]);
	expect(fallbackDestinations(networks, undefined)).toEqual([]);
});
