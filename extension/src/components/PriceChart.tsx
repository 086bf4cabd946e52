import { useState } from "preact/hooks";
import type { MessageKey } from "../i18n/keys";
import { numbers } from "../i18n/formats";
import { locale, t } from "../i18n/t";
import { formatTime } from "../i18n/time";
import { formatUSD } from "../money/amount";
import { type Answer, useAnswer } from "../state/answer";
import { useConnection, useNetworkData } from "../state/context";
import { useStore } from "../state/store";
import type { Candle, ChartPeriod, PriceHistory } from "../wire/protocol";
import { Loading } from "./Loading";
import { nearest, plot, type Plot } from "./plot";
import { Refusal } from "./Refusal";
import { Segments } from "./Segments";

const periods: readonly { of: ChartPeriod; name: MessageKey; summary: MessageKey }[] = [
	{ of: "24h", name: "chart_day", summary: "chart_summary_day" },
	{ of: "week", name: "chart_week", summary: "chart_summary_week" },
	{ of: "month", name: "chart_month", summary: "chart_summary_month" },
];

/** Size in SVG units; the style sheet sets the displayed size. */
const width = 360;
const height = 120;

interface Props {
	chainId: number;
	token: string;
	symbol: string;
	/** The latest price is too old to count as current. */
	stale?: boolean;
}

/** PriceChart draws a token's price over a day, a week or a month, from the daemon's stored
 * candles. The values can be read by pointer, by keyboard and as a table. */
export function PriceChart({ chainId, token, symbol, stale = false }: Props) {
	const [period, choose] = useState<ChartPeriod>("24h");
	const { answer: fresh, failure } = useHistory(chainId, token, period);
	return (
		<figure class="chart card stack tight" aria-label={t("chart", symbol)}>
			<Segments label={t("chart_period")} name="period" value={period} options={periods.map((p) => ({ value: p.of, text: t(p.name) }))} onChange={choose} wide />
			{failure && <Refusal failure={failure} />}
			{!fresh && !failure && (
				<div class="chart-empty">
					<Loading />
				</div>
			)}
			{fresh && fresh.candles.length === 0 && <p class="chart-empty soft">{t("chart_none")}</p>}
			{fresh && fresh.candles.length > 0 && <Drawing key={period} history={fresh} symbol={symbol} summary={periods.find((p) => p.of === period)!.summary} />}
			{stale && <p class="note warn small">{t("price_stale")}</p>}
		</figure>
	);
}

/** useHistory loads the candles, and reloads them whenever prices were fetched. */
function useHistory(chainId: number, token: string, period: ChartPeriod): Answer<PriceHistory> {
	const { shell } = useConnection();
	const { prices } = useNetworkData();
	return useAnswer(`${chainId} ${token} ${period}`, () => shell.call("prices.history", { chainId, token, period }), useStore(prices));
}

function Drawing({ history, symbol, summary }: { history: PriceHistory; symbol: string; summary: MessageKey }) {
	const { candles } = history;
	const [at, point] = useState<number | undefined>(undefined);
	const drawn = plot(candles, history.stepSeconds, width, height);
	const shown = at === undefined ? undefined : candles[Math.min(at, candles.length - 1)];
	const way = drawn.change === undefined ? "neutral" : drawn.change < 0 ? "critical" : "good";
	return (
		<>
			<p class="row apart chart-figures">
				<strong class="number">{price((shown ?? candles.at(-1)!).close)}</strong>
				<span class={`tone ${shown ? "" : way} small number`}>{shown ? formatTime(shown.time, "whole") : formatChange(drawn.change)}</span>
			</p>
			<Canvas drawn={drawn} candles={candles} at={at} point={point} tone={way} />
			<figcaption class="soft small">{t(summary, symbol, price(drawn.low), price(drawn.high), formatChange(drawn.change))}</figcaption>
			<Table candles={candles} />
		</>
	);
}

interface CanvasProps {
	drawn: Plot;
	candles: readonly Candle[];
	/** Index of the candle that is pointed at. */
	at: number | undefined;
	point: (at: number | undefined) => void;
	tone: string;
}

/** How each key moves the pointer. */
const moves: Record<string, (at: number, last: number) => number> = {
	ArrowLeft: (at) => at - 1, ArrowDown: (at) => at - 1, ArrowRight: (at) => at + 1, ArrowUp: (at) => at + 1,
	PageUp: (at) => at + 10, PageDown: (at) => at - 10, Home: () => 0, End: (_, last) => last,
};

function Canvas({ drawn, candles, at, point, tone }: CanvasProps) {
	const last = candles.length - 1;
	const now = Math.min(at ?? last, last);
	const spot = at === undefined ? undefined : drawn.points[now];
	return (
		<div
			class={`canvas ${tone}`}
			role="slider"
			tabIndex={0}
			aria-label={t("chart_read")}
			aria-valuemin={0}
			aria-valuemax={last}
			aria-valuenow={now}
			aria-valuetext={`${formatTime(candles[now]!.time, "whole")}: ${price(candles[now]!.close)}`}
			onKeyDown={(e) => {
				const move = moves[e.key];
				if (!move) return;
				e.preventDefault();
				point(Math.max(0, Math.min(last, move(now, last))));
			}}
			onBlur={() => point(undefined)}
			onPointerMove={(e) => {
				const box = e.currentTarget.getBoundingClientRect();
				point(nearest(drawn.points, ((e.clientX - box.left) / box.width) * width));
			}}
			onPointerLeave={() => point(undefined)}
		>
			<svg viewBox={`0 -4 ${width} ${height + 8}`} preserveAspectRatio="none" aria-hidden="true">
				<path d={drawn.path} />
				{spot && <path class="cursor" d={`M${spot.x.toFixed(1)} -4V${height + 4}`} />}
			</svg>
		</div>
	);
}

/** The table is thinned out to at most this many rows. */
const mostRows = 24;

function Table({ candles }: { candles: readonly Candle[] }) {
	const every = Math.ceil(candles.length / mostRows);
	const rows = candles.filter((_, i) => (candles.length - 1 - i) % every === 0);
	return (
		<details class="small">
			<summary>{t("chart_table")}</summary>
			<table class="compare">
				<thead>
					<tr>
						<th scope="col">{t("chart_time")}</th>
						<th scope="col">{t("chart_price")}</th>
					</tr>
				</thead>
				<tbody>
					{rows.map((c) => (
						<tr key={c.time}>
							<td>{formatTime(c.time, "whole")}</td>
							<td class="number">{price(c.close)}</td>
						</tr>
					))}
				</tbody>
			</table>
		</details>
	);
}

const price = (usd: string) => formatUSD(usd, locale());

/** formatChange formats a change in percent, with its sign. */
export function formatChange(percent: number | undefined): string {
	if (percent === undefined) return t("price_change_unknown");
	return numbers(locale(), { style: "percent", signDisplay: "exceptZero", maximumFractionDigits: 2 }).format(percent / 100);
}
