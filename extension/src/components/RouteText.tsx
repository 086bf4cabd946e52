import { brandOf } from "../i18n/provider-name";
import { t } from "../i18n/t";
import { percent } from "../money/percent";
import { shortRoute } from "./address";
import { type Leg, parsePools } from "./pools";

/** RouteText shows a provider's description of a route: one line per path of pools, plain
 * text as it is, anything else collapsed. */
export function RouteText({ route }: { route: string }) {
	const legs = parsePools(route);
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

function words({ share, version, fees }: Leg): string {
	return [rate(share), `${brandOf("dex") ?? ""} ${version}`.trim(), ...(fees.length > 0 ? [fees.map(rate).join(" → ")] : [])].join(" · ");
}

/** Pool fees have up to four decimals. */
const rate = (value: number) => percent(value, { maximumFractionDigits: 4 });
