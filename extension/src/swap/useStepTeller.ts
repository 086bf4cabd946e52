import { tellerOf } from "../order/useTeller";
import type { Teller } from "../order/line";
import { useWallet } from "../state/context";
import { useStore } from "../state/store";
import { useTokens } from "../state/tokens";
import type { Step } from "../wire/protocol";

/** useStepTeller returns a Teller for the steps of a plan, with all digits. */
export function useStepTeller(steps: readonly Step[]): Teller {
	const wallet = useWallet();
	const tokens = steps.flatMap(({ effect: { chainId, spends = [], approves = [], receives = [] } }) =>
		[...spends, ...approves, ...receives].map(({ token }) => ({ chainId, address: token })),
	);
	return tellerOf(useTokens(tokens), useStore(wallet.networks), useStore(wallet.accounts));
}
