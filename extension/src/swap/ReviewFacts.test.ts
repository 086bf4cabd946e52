import { expect, it } from "vitest";
import { resultOf } from "../wire/recorded";
import type { Review, Token } from "../wire/protocol";
import { rows } from "./ReviewFacts";

const { statedMinimum: told, ...silent } = resultOf<Review>("swap", "prepare");
const token = { symbol: "USDC", decimals: 6 } as Token;
const about = { tokenIn: token, tokenOut: token, from: { chainId: 1, name: "" }, to: { chainId: 1, name: "" }, destinationReadable: true, coin: token };
const names = (review: Review) => rows(review, about).map(([name]) => name);

it("tells what the quote calls its minimum only where it calls it something else", () => {
	const telling = names({ ...silent, statedMinimum: told! });
	expect(telling.length).toBe(names(silent).length + 1);
	expect(telling[1]).not.toBe(names(silent)[1]);
});

it("names the coin of a refund that is paid wrapped", () => {
	const wrap = `0x${"11".repeat(20)}` as const;
	const terms = { ...silent.terms, wrap, refund: { token: wrap, amount: "1500000" } };
	const row = rows({ ...silent, terms } as Review, { ...about, coin: { symbol: "ETH", decimals: 6 } as Token }).find(([, value]) => String(value).includes("WETH"));
	expect(row?.[1]).toContain("1.5");
});

it("names the throwaway account that makes the call", () => {
	const isolated = `0x${"22".repeat(20)}` as const;
	expect(names({ ...silent, terms: { ...silent.terms, isolated } } as Review).length).toBe(names(silent).length + 1);
});
