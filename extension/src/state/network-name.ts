import { t } from "../i18n/t";
import { networkNames } from "../wire/protocol";

/** networkName returns a network's name from the first list that has it, else from the
 * wallet's own table (which includes networks without an endpoint), else by its chain id. */
export function networkName(chainId: number, ...known: readonly (readonly { chainId: number; name: string }[] | undefined)[]): string {
	for (const networks of known) {
		const name = networks?.find((n) => n.chainId === chainId)?.name;
		if (name) return name;
	}
	return networkNames[chainId] ?? t("network_unnamed", chainId);
}
