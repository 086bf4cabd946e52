import { orderFormatter } from "../order/useOrderFormatter";
import type { OrderFormatter } from "../order/line";
import { useConnection, useNetworkData } from "../state/context";
import { useStore } from "../state/store";
import { useTokens } from "../state/tokens";
import type { Step } from "../wire/protocol";

/** useStepFormatter returns an OrderFormatter for the steps of a plan, with all digits. */
export function useStepFormatter(steps: readonly Step[]): OrderFormatter {
	const tokens = steps.flatMap(({ effect: { chainId, spends = [], approves = [], receives = [] } }) =>
		[...spends, ...approves, ...receives].map(({ token }) => ({ chainId, address: token })),
	);
	return orderFormatter(useTokens(tokens), useStore(useNetworkData().networks), useStore(useConnection().accounts));
}
