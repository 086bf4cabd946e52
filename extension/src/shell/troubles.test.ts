import { expect, it } from "vitest";
import { sentence } from "./troubles";

it("makes a sentence of a clause", () => {
	expect(sentence("the wallet is locked")).toBe("The wallet is locked.");
	expect(sentence("Wait!")).toBe("Wait!");
	expect(sentence("  ")).toBe("");
});
