import type { Candle } from "../wire/protocol";

/** A Plot is a price chart ready to be drawn. Floats are used for drawing only; displayed
 * values are the candles' own strings. */
export interface Plot {
	/** SVG path of the closing prices, interrupted where candles are missing. */
	path: string;
	/** One per candle, in SVG units. */
	points: readonly { x: number; y: number }[];
	/** US dollars. */
	high: string;
	low: string;
	/** From the first open to the last close, in percent; undefined if the open was zero. */
	change: number | undefined;
}

/** plot lays out candles (oldest first, at least one) in width by height. */
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

/** pathOf leaves gaps open, as the prices in them are unknown. A gap is longer than two
 * steps and than three times the median distance, since older candles are further apart. A
 * point between two gaps becomes a dot. */
function pathOf(candles: readonly Candle[], points: Plot["points"], stepSeconds: number): string {
	const apart = candles.slice(1).map((c, i) => Date.parse(c.time) - Date.parse(candles[i]!.time));
	const usual = [...apart].sort((a, b) => a - b)[Math.floor(apart.length / 2)] ?? 0;
	const most = Math.max(2 * stepSeconds * 1000, apart.length > 3 ? 3 * usual : 0);
	const gap = (i: number) => i === 0 || i === candles.length || apart[i - 1]! > most;
	return points.map(({ x, y }, i) => `${gap(i) ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}${gap(i) && gap(i + 1) ? "h.01" : ""}`).join("");
}

/** nearest returns the index of the point closest to x. */
export function nearest(points: Plot["points"], x: number): number {
	return points.reduce((best, p, i) => (Math.abs(p.x - x) < Math.abs(points[best]!.x - x) ? i : best), 0);
}
