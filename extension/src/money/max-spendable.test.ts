import { describe, expect, test } from "vitest";
import type { GasPrice } from "../wire/protocol";
import { maxSpendable } from "./max-spendable";

const gwei = (n: number) => `${n}000000000`;
const price = (fast: GasPrice["fast"], more: Partial<GasPrice> = {}): GasPrice => ({ chainId: 1, block: 1, time: "2026-01-01T00:00:00Z", slow: {}, normal: { maxFeePerGas: gwei(1) }, fast, ...more });
const coin = "1000000000000000000";

describe("reserve", () => {
	test("keeps what gas may cost at the fast tier", () => {
		expect(maxSpendable(coin, price({ maxFeePerGas: gwei(100) }), "dex")).toBe("960000000000000000"); // 400,000 x 100 gwei
	});
	test("keeps less for orders that the provider pays for", () => {
		expect(maxSpendable(coin, price({ maxFeePerGas: gwei(100) }), "gasless")).toBe("985000000000000000");
	});
	test("takes the gas price of networks without a fee market", () => {
		expect(maxSpendable(coin, price({ gasPrice: gwei(10) }), "bridge")).toBe("997000000000000000");
	});
	test("keeps what the data costs on L1", () => {
		expect(maxSpendable(coin, price({ maxFeePerGas: "0" }, { l1Transfer: "1000000000000" }), "intent")).toBe("999988000000000000");
	});
	test("leaves nothing of a balance that does not pay for gas", () => {
		expect(maxSpendable("1", price({ maxFeePerGas: gwei(100) }), "dex")).toBe("0");
		expect(maxSpendable("0", price({ maxFeePerGas: gwei(100) }), "dex")).toBe("0");
	});
	test("says nothing while the price is not known", () => {
		expect(maxSpendable(coin, undefined, "dex")).toBeUndefined();
		expect(maxSpendable(coin, price({}), "dex")).toBeUndefined();
	});
	test("is exact beyond what a float holds", () => {
		expect(maxSpendable("123456789012345678901234567891", price({ maxFeePerGas: "1" }), "dex")).toBe("123456789012345678901234167891");
	});
});
