import { describe, expect, it } from "vitest";
import { searchOf } from "./discovery";

const networks = [{ chainId: 1, name: "Ethereum" }, { chainId: 56, name: "BNB Chain" }];
const account = { address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", name: "Account 2", wallet: "w1" };

describe("a search for accounts", () => {
	it("names the networks that did not answer, also ones that are not known any more", () => {
		expect(searchOf({ wallet: "w1", checked: 21, found: [account], unreachable: [56, 7], done: true }, networks)).toEqual({
			checked: 21, found: 1, unreachable: ["BNB Chain", "7"], state: "done",
		});
	});
	it("is broken by an error, whatever was found", () => {
		expect(searchOf({ wallet: "w1", checked: 3, found: [], unreachable: [], done: true, error: "locked" }, networks).state).toBe("broken");
		expect(searchOf({ wallet: "w1", checked: 3, found: [], unreachable: [], done: false }, networks).state).toBe("running");
	});
});
