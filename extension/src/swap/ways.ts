import { t } from "../i18n/t";
import type { Offer } from "../wire/protocol";

/** The DEX provider's names for its ways, in plain words. */
const ways: Record<string, "way_pools" | "way_auction"> = { CLASSIC: "way_pools", DUTCH_V2: "way_auction", DUTCH_V3: "way_auction" };

/** wayOf is what an offer is called beside others of its provider: other names than the
 * DEX's say enough as they are. */
export function wayOf({ routing }: Pick<Offer, "routing">): string {
	const way = ways[routing];
	return way ? t(way) : routing;
}
