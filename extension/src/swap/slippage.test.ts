import { expect, it } from "vitest";
import { readSlippage, slippageWarning } from "./slippage";

it.each([["0.5", 0.5], ["0,5", 0.5], [" 1 ", 1], ["15", 15], ["15.00", 15], ["0.01", 0.01], ["5.", 5], [".5", 0.5], [",25", 0.25]])("reads %s", (typed, percent) => expect(readSlippage(typed)).toBe(percent));
it.each(["", " ", ".", "0", "0.00", "15.01", "50", "100", "-1", "1e1", "0.005", "1.234", "0x1", "NaN", "1 2", "1.2.3", "5%"])("refuses %j", (typed) => expect(readSlippage(typed)).toBeUndefined());
it.each([[0.01, "slippage_low"], [0.09, "slippage_low"], [0.1, undefined], [0.5, undefined], [5, undefined], [5.01, "slippage_high"], [50, "slippage_high"]])("warns of %f with %s", (percent, key) => expect(slippageWarning(percent)).toBe(key));
