import { type MessageKey, t } from "../i18n/t";
import type { Trusted } from "../wire/protocol";
import { lookUp } from "./status";

/** Who settles what an order hands over. */
export const trustedNames: Record<Trusted, MessageKey> = {
	"Relay and its solver": "trusted_solver",
	"Relay's router": "trusted_router",
	"the intent provider and its fillers": "trusted_fillers",
};

/** trusted names who is trusted to settle; in the daemon's words if there is no message for it. */
export function trusted(who: string): string {
	const key = lookUp(trustedNames, who);
	return key ? t(key) : who;
}
