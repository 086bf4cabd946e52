import type { Candle } from "../wire/protocol";

/** A Plot is a price chart ready to be drawn. Floats serve the drawing alone; what is
 * read are the candles' own texts. */
export interface Plot {
	/** SVG path of the closing prices; it breaks where steps are absent. */
	path: string;
	/** One for each candle, in the drawing's units. */
	points: readonly { x: number; y: number }[];
	/** Dollars. */
	high: string;
	low: string;
	/** From the first opening to the last close, percent; undefined where that was zero. */
	change: number | undefined;
}

/** plot lays candles (oldest first, at least one) out on width by height. */
export function plot(candles: readonly Candle[], stepSeconds: number, width: number, height: number): Plot {
	const [first, last] = [candles[0]!, candles.at(-1)!];
	const high = candles.reduce((a, b) => (Number(b.high) > Number(a.high) ? b : a)).high;
	const low = candles.reduce((a, b) => (Number(b.low) < Number(a.low) ? b : a)).low;
	const [begin, end] = [Date.parse(first.time), Date.parse(last.time)];
	const [top, bottom] = [Number(high), Number(low)];
	const points = candles.map((c) => ({
		x: end === begin ? width / 2 : ((Date.parse(c.time) - begin) / (end - begin)) * width,
		y: top === bottom ? height / 2 : ((top - Number(c.close)) / (top - bottom)) * height,
	}));
	const opened = Number(first.open);
	return { path: pathOf(candles, points, stepSeconds), points, high, low, change: opened > 0 ? ((Number(last.close) - opened) / opened) * 100 : undefined };
}

/** A gap is not drawn over: nobody knows what was in it. It is more than two steps, and
 * three times what lies between two candles mostly: older ones come further apart. A
 * point that stands alone is a dot. */
function pathOf(candles: readonly Candle[], points: Plot["points"], stepSeconds: number): string {
	const apart = candles.slice(1).map((c, i) => Date.parse(c.time) - Date.parse(candles[i]!.time));
	const usual = [...apart].sort((a, b) => a - b)[Math.floor(apart.length / 2)] ?? 0;
	const most = Math.max(2 * stepSeconds * 1000, apart.length > 3 ? 3 * usual : 0);
	const gap = (i: number) => i === 0 || i === candles.length || apart[i - 1]! > most;
	return points.map(({ x, y }, i) => `${gap(i) ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}${gap(i) && gap(i + 1) ? "h.01" : ""}`).join("");
}

/** nearest is the index of the point closest to x. */
export function nearest(points: Plot["points"], x: number): number {
	return points.reduce((best, p, i) => (Math.abs(p.x - x) < Math.abs(points[best]!.x - x) ? i : best), 0);
}
