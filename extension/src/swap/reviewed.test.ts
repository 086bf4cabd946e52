import { expect, it } from "vitest";
import type { Network, Terms, Token } from "../wire/protocol";
import { reviewed } from "./reviewed";

const token = (chainId: number, address: string, symbol: string, decimals: number) => ({ chainId, address, symbol, decimals }) as Token;
const usdc = token(1, "0xAb00000000000000000000000000000000000001", "USDC", 6);
const dai = token(1, "0xAb00000000000000000000000000000000000002", "DAI", 18);
const wbtc = token(1, "0xAb00000000000000000000000000000000000003", "WBTC", 8);
const networks = [
	{ chainId: 1, name: "Ethereum", symbol: "ETH", decimals: 18 },
	{ chainId: 137, name: "Polygon", symbol: "POL", decimals: 18 },
] as Network[];
const terms = { srcChainId: 1, tokenIn: usdc.address, dstChainId: 1, tokenOut: dai.address } as Terms;
const here = { chainId: 1, name: "Ethereum" };
const form = (tokenIn: Token | undefined, tokenOut: Token | undefined) => ({ draft: { tokenIn, tokenOut, destination: 0, amount: "1" }, from: here, to: here });
const none = () => undefined;

it("is about the terms' tokens, whatever the form says meanwhile", () => {
	const r = reviewed(terms, form(usdc, wbtc), networks, (_, address) => (address === dai.address ? dai : undefined));
	expect(r).toMatchObject({ tokenIn: usdc, tokenOut: dai, from: here, to: here, destinationReadable: true, coin: { symbol: "ETH" } });
});

it("takes the form's names where they are the terms' own, in either spelling and either field", () => {
	const lower = { ...dai, address: dai.address.toLowerCase() };
	expect(reviewed(terms, form(lower, usdc), networks, none)).toMatchObject({ tokenIn: usdc, tokenOut: lower });
});

it("counts what nobody knows in base units, and does not borrow the form's decimals", () => {
	const { tokenOut } = reviewed(terms, form(usdc, wbtc), networks, none);
	expect(tokenOut).toMatchObject({ address: dai.address, decimals: 0, verified: false });
	// The same address on another network is another token.
	expect(reviewed({ ...terms, dstChainId: 8453 }, form(usdc, dai), networks, none).tokenOut.decimals).toBe(0);
});

it("names the terms' networks and the source's coin", () => {
	const r = reviewed({ ...terms, srcChainId: 137, dstChainId: 999 }, { ...form(usdc, dai), to: { chainId: 999, name: "Far" } }, networks, none);
	expect(r).toMatchObject({ from: { chainId: 137, name: "Polygon" }, to: { chainId: 999, name: "Far" }, destinationReadable: false, coin: { symbol: "POL" } });
});
