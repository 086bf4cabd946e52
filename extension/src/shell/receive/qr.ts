import { encode } from "uqr";

/** Width of the quiet zone that readers need around a code, in modules. */
const quiet = 4;

/** A Code is one SVG path of the dark modules, in a square of `size` including the quiet zone. */
export interface Code {
	path: string;
	size: number;
}

/** qr encodes a text with error correction level M (about 15 % may be unreadable). */
export function qr(text: string): Code {
	const { data, size } = encode(text, { border: 0, ecc: "M" });
	return { path: data.map(rowPath).join(""), size: size + 2 * quiet };
}

/** Adjacent dark modules are drawn as one bar, since some screens show lines between squares. */
function rowPath(row: readonly boolean[], y: number): string {
	const bits = row.map((dark) => (dark ? "1" : "0")).join("");
	return [...bits.matchAll(/1+/g)].map((bar) => `M${bar.index + quiet} ${y + quiet}h${bar[0].length}v1h-${bar[0].length}z`).join("");
}
