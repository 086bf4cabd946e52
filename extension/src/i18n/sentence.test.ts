import { expect, it } from "vitest";
import { sentence } from "./sentence";

it("makes a sentence of a clause", () => {
	expect(sentence("the wallet is locked")).toBe("The wallet is locked.");
	expect(sentence("Wait!")).toBe("Wait!");
	expect(sentence("  ")).toBe("");
});
