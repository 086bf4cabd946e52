import { describe, expect, it } from "vitest";
import { setupOf } from "./setup";

describe("a tab that was opened to make a wallet", () => {
	it("says so behind the # of its address", () => {
		expect(setupOf("#create")).toEqual({ stage: "open", way: "create" });
		expect(setupOf("#import")).toEqual({ stage: "open", way: "import" });
	});
	it("is any other page without one of the two words", () => {
		for (const hash of ["", "#", "#held", "x#create"]) expect(setupOf(hash).stage).toBe("none");
	});
});
