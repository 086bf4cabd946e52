import type { Offer } from "../wire/protocol";
import { t } from "../i18n/t";
import { Avatar } from "./Avatar";
import { RouteText } from "./RouteText";

interface Props {
	offer: Offer;
	/** Names of the networks. */
	from: string;
	to: string;
	symbolIn: string;
	symbolOut: string;
	/** Display name. */
	provider: string;
}

/** RouteView shows the route of a swap: source, provider and pools, destination. */
export function RouteView({ offer, from, to, symbolIn, symbolOut, provider }: Props) {
	const stays = offer.srcChainId === offer.dstChainId;
	return (
		<ol class="route-view" aria-label={t("route_way")}>
			<End chainId={offer.srcChainId} symbol={symbolIn} network={from} />
			<li class="route-by">
				<span class="route-line">
					<span class="tag">{provider}</span>
					<svg width="6" height="8" viewBox="0 0 6 8" aria-hidden="true">
						<path d="M0 0l6 4-6 4z" />
					</svg>
				</span>
				{offer.route && (
					<span class="soft small">
						<RouteText route={offer.route} />
					</span>
				)}
				<span class="soft small">{t(stays ? "route_same_network" : "route_other_network")}</span>
			</li>
			<End chainId={offer.dstChainId} symbol={symbolOut} network={to} />
		</ol>
	);
}

function End({ chainId, symbol, network }: { chainId: number; symbol: string; network: string }) {
	return (
		<li class="route-end">
			<Avatar of={String(chainId)} letter={network} size={24} />
			<span class="cut route-symbol">{symbol}</span>
			<span class="soft small cut">{t("route_on", network)}</span>
		</li>
	);
}
