import { encode } from "uqr";
import { describe, expect, it } from "vitest";
import { qr } from "./qr";

const address = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";

/** drawn parses a path back into modules. */
function drawn({ path, size }: { path: string; size: number }): boolean[][] {
	const grid = Array.from({ length: size }, () => Array.from({ length: size }, () => false));
	for (const [, x, y, w] of path.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g)) for (let i = 0; i < Number(w); i++) grid[Number(y)]![Number(x) + i] = true;
	return grid;
}

describe("a QR code", () => {
	it("draws the modules of the encoder inside a quiet zone of four", () => {
		const code = qr(address);
		const want = encode(address, { border: 4, ecc: "M" });
		expect(code.size).toBe(want.size);
		expect(drawn(code)).toEqual(want.data);
	});
});
