import { t } from "../i18n/t";
import { networkNames } from "../wire/protocol";

/** networkName is what a network is called: by the first that knows it, by the wallet's
 * own table, which has those without an endpoint too, else by its number. */
export function networkName(chainId: number, ...known: readonly (readonly { chainId: number; name: string }[] | undefined)[]): string {
	for (const networks of known) {
		const name = networks?.find((n) => n.chainId === chainId)?.name;
		if (name) return name;
	}
	return networkNames[chainId] ?? t("network_unnamed", chainId);
}
