import { expect, it } from "vitest";
import { networkName } from "./network-name";

it("is told by the first that knows the network, and by the wallet's own table", () => {
	const ours = [{ chainId: 1, name: "Ethereum" }];
	const theirs = [{ chainId: 1, name: "eth" }, { chainId: 777, name: "Seven" }];
	expect(networkName(1, ours, theirs)).toBe("Ethereum");
	expect(networkName(777, ours, theirs)).toBe("Seven");
	expect(networkName(10, ours, undefined)).toBe("OP Mainnet");
	expect(networkName(778, ours, theirs)).toContain("network_unnamed");
});
