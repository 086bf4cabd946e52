import { expect, it } from "vitest";
import { nearest, plot } from "./plot";

const candle = (minute: number, open: string, high: string, low: string, close: string) => ({ time: new Date(minute * 60_000).toISOString(), open, high, low, close });

it("draws closes between the lowest and the highest price", () => {
	const p = plot([candle(0, "100", "110", "90", "100"), candle(5, "100", "130", "100", "120"), candle(10, "120", "120", "95", "110")], 300, 100, 40);
	expect(p.points.map((q) => [q.x, q.y])).toEqual([[0, 30], [50, 10], [100, 20]]);
	expect([p.high, p.low]).toEqual(["130", "90"]);
	expect(p.change).toBeCloseTo(10);
	expect(p.path).toBe("M0.0 30.0L50.0 10.0L100.0 20.0");
});

it("does not draw over what is missing", () => {
	const p = plot([candle(0, "1", "1", "1", "1"), candle(30, "1", "2", "1", "2")], 300, 10, 10);
	expect(p.path).toBe("M0.0 10.0h.01M10.0 0.0h.01");
});

it("draws older candles, which are further apart, as a line, and not over a hole in them", () => {
	const path = plot([0, 15, 30, 45, 60, 180].map((minute) => candle(minute, "1", "2", "1", "1")), 60, 180, 10).path;
	expect(path.match(/[ML]/g)?.join("")).toBe("MLLLLM");
});

it("draws a price that stands still, and a single one", () => {
	expect(plot([candle(0, "1", "1", "1", "1"), candle(5, "1", "1", "1", "1")], 300, 10, 10).path).toBe("M0.0 5.0L10.0 5.0");
	expect(plot([candle(0, "0", "0", "0", "0")], 300, 10, 10)).toMatchObject({ path: "M5.0 5.0h.01", change: undefined });
});

it("finds the point under the pointer", () => {
	const points = [{ x: 0, y: 0 }, { x: 50, y: 0 }, { x: 100, y: 0 }];
	expect([nearest(points, -5), nearest(points, 40), nearest(points, 76)]).toEqual([0, 1, 2]);
});
