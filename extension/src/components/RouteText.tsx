import { t } from "../i18n/t";
import { percent } from "../money/percent";
import { shortRoute } from "./address";
import { type Leg, readPools } from "./pools";

/** RouteText is a provider's words for a route: pools one way a line, words as they are,
 * and what is neither folded away. */
export function RouteText({ route }: { route: string }) {
	const legs = readPools(route);
	if (legs) {
		return (
			<span class="legs" title={route}>
				{legs.map((leg, i) => (
					<span key={i}>{words(leg)}</span>
				))}
			</span>
		);
	}
	if (!route.startsWith("[")) return <>{shortRoute(route)}</>;
	return (
		<details class="legs-raw">
			<summary>{t("route_raw")}</summary>
			<code>{route}</code>
		</details>
	);
}

/** "60 % · Uniswap v3 · 0.3 % → 0.05 %" */
function words({ share, version, fees }: Leg): string {
	return [rate(share), `Uniswap ${version}`, ...(fees.length > 0 ? [fees.map(rate).join(" → ")] : [])].join(" · ");
}

/** Fees of pools have up to four decimals. */
const rate = (value: number) => percent(value, { maximumFractionDigits: 4 });
