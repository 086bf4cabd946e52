import { describe, expect, it } from "vitest";
import { parsePools } from "./pools";

describe("a route through pools", () => {
	it("is read with its shares, versions and fees", () => {
		expect(parsePools("[v3] 100.00% = [0.05%] 0xd0b53D9277642d899DF5C87A3966A349A798F224")).toEqual([{ share: 100, version: "v3", fees: [0.05] }]);
		expect(parsePools("[v3] 60.00% = [0.05%], [v3] 25.00% = [0.3%] -- [0.01%], [v2] 15.00%")).toEqual([
			{ share: 60, version: "v3", fees: [0.05] },
			{ share: 25, version: "v3", fees: [0.3, 0.01] },
			{ share: 15, version: "v2", fees: [] },
		]);
		expect(parsePools("[V2 + V3] 100.00% = WETH -- 0.05% [0xd0b5] --> USDC")).toEqual([{ share: 100, version: "v2 + v3", fees: [0.05] }]);
	});
	it("is left as it is where it is not understood", () => {
		for (const text of ["", "UniswapX auction", "1:1", "Relay", "[v3] lots = [0.05%]", "[v3] 60.00% = [0.05%], [curve] 40.00%"]) {
			expect(parsePools(text), text).toBeUndefined();
		}
	});
	it("is left as it is where a fee is no percentage", () => {
		for (const fee of ["123.45%", "100.5%", "0.05.3%", "1e5%", "-3%", "1,000%", "%", "0.3%%"]) expect(parsePools(`[v3] 100% = [${fee}]`), fee).toBeUndefined();
		expect(parsePools("[v3] 100% = [100%]")).toEqual([{ share: 100, version: "v3", fees: [100] }]);
	});
	it("is left as it is where a part was cut off", () => {
		expect(parsePools("[v3] 60.00% = [0.05%]")).toBeUndefined();
		expect(parsePools("[v3] 60.00% = [0.05%], [v2")).toBeUndefined();
	});
});
