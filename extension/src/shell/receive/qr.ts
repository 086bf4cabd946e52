import { encode } from "uqr";

/** The quiet zone that readers need around a code, in modules. */
const quiet = 4;

/** A Code as one SVG path of dark modules, in a square of `size` with its quiet zone. */
export interface Code {
	path: string;
	size: number;
}

/** qr encodes a text, such that a tenth of it may be unreadable. */
export function qr(text: string): Code {
	const { data, size } = encode(text, { border: 0, ecc: "M" });
	return { path: data.map(rowPath).join(""), size: size + 2 * quiet };
}

/** Dark modules beside each other are one bar: between squares some screens show lines. */
function rowPath(row: readonly boolean[], y: number): string {
	const bits = row.map((dark) => (dark ? "1" : "0")).join("");
	return [...bits.matchAll(/1+/g)].map((bar) => `M${bar.index + quiet} ${y + quiet}h${bar[0].length}v1h-${bar[0].length}z`).join("");
}
