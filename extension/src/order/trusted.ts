import { type MessageKey, t } from "../i18n/t";
import type { Trusted } from "../wire/protocol";
import { lookUp } from "./status";

/** Who settles what an order hands over. */
export const trustedNames: Record<Trusted, MessageKey> = {
	relay_solver: "trusted_relay_solver",
	relay_router: "trusted_relay_router",
	intent_fillers: "trusted_intent_fillers",
};

/** trusted names who is trusted to settle; undefined if there is no message for it. */
export function trusted(who: string): string | undefined {
	const key = lookUp(trustedNames, who);
	return key && t(key);
}
