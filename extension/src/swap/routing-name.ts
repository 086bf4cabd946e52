import { t } from "../i18n/t";
import type { Offer } from "../wire/protocol";

/** Plain words for the DEX provider's routings. */
const ways: Record<string, "way_pools" | "way_auction"> = { CLASSIC: "way_pools", DUTCH_V2: "way_auction", DUTCH_V3: "way_auction" };

/** routingName returns the name of an offer's routing. Names of other providers are clear as
 * they are. */
export function routingName({ routing }: Pick<Offer, "routing">): string {
	const way = ways[routing];
	return way ? t(way) : routing;
}
