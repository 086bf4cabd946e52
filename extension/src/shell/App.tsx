import type { ComponentChildren, ComponentType } from "preact";
import { lazy } from "./lazy";
import { useConnection, useNetworkData } from "../state/context";
import { NATIVE } from "../state/network-data";
import { useStore } from "../state/store";
import { SwapContainer } from "../swap/SwapContainer";
import { t } from "../i18n/t";
import { useRef } from "preact/hooks";
import type { Failure } from "../wire/failure";
import type { Link } from "../wire/link";
import { Announcer } from "../components/Announcer";
import { Button } from "../components/Button";
import { Loading } from "../components/Loading";
import { Refusal } from "../components/Refusal";
import { Screen } from "../components/Screen";
import { Header } from "./Header";
import { Navigation } from "./Navigation";
import { Outside } from "./Outside";
import { currentSetup } from "./onboarding/setup";
import { preselected } from "./preselected";
import { type Route, route } from "./route";

// Only the first screen is in the initial bundle.
const LinkScreen = lazy(() => import("./link/LinkScreen"));
const Onboarding = lazy(() => import("./onboarding/Onboarding"));
const Unlock = lazy(() => import("./Unlock"));
const screens: { [A in Exclude<Route["at"], "swap">]: ComponentType<{ route: Extract<Route, { at: A }> }> } = {
	assets: lazy(() => import("./assets/Assets")),
	activity: lazy(() => import("./activity/Activity")),
	order: lazy(() => import("./activity/OrderScreen")),
	receive: lazy(() => import("./receive/Receive")),
	accounts: lazy(() => import("./accounts/Accounts")),
	networks: lazy(() => import("./Networks")),
	approvals: lazy(() => import("./approvals/Approvals")),
	token: lazy(() => import("./token/TokenScreen")),
	settings: lazy(() => import("./settings/Settings")),
};

/** App shows the screen for the present state: connection problem, onboarding, unlock or wallet. */
export function App() {
	const hello = useStore(useConnection().hello);
	return (
		<div class="app">
			{hello?.banner && (
				<aside class="banner" aria-label={t("sandbox")}>
					{hello.banner}
				</aside>
			)}
			<Stage />
			<Announcer />
		</div>
	);
}

function Stage() {
	const link = useLastProblem(useStore(useConnection().link));
	const keys = useStore(useConnection().keys);
	const unread = useStore(useConnection().keysFailure);
	const setup = useStore(currentSetup).stage;
	const at = useStore(route);
	if (setup === "held") return page(<Onboarding />);
	if (link.at !== "ready" && !(link.at === "connecting" && keys)) return page(link.at === "connecting" ? <Waiting /> : <LinkScreen link={link} />);
	if (!keys) return page(unread ? <Unread failure={unread} /> : <Waiting />);
	if (keys.state === "none" || setup === "open") return page(<Onboarding />);
	if (!keys.session) return page(<Unlock />);
	const Shown = at.at === "swap" ? undefined : (screens[at.at] as ComponentType<{ route: Route }>); // of a Route, each screen gets its own variant
	return (
		<>
			<Header />
			{page(
				<>
					<Outside />
					{Shown ? <Shown route={at} /> : <Swap />}
				</>,
			)}
			<Navigation />
		</>
	);
}

/** useLastProblem keeps returning the last problem while the host is being retried, since most
 * retries end the same way. */
function useLastProblem(link: Link): Link {
	const last = useRef(link);
	if (link.at !== "connecting") last.current = link;
	return last.current.at === "ready" ? link : last.current;
}

const page = (content: ComponentChildren) => <main>{content}</main>;

function Waiting() {
	return (
		<div class="waiting">
			<Loading />
		</div>
	);
}

/** Unread says why the wallets cannot be read. Reloading the page tries again. */
function Unread({ failure }: { failure: Failure }) {
	return (
		<Screen title={t("unread_title")}>
			<Refusal failure={failure} />
			<Button kind="main" onClick={() => location.reload()}>
				{t("try_again")}
			</Button>
		</Screen>
	);
}

/** Swap passes wallet state to the swap container, which does not use the wallet itself. */
function Swap() {
	const { refreshBalances } = useNetworkData();
	const balances = useStore(useNetworkData().balances);
	return (
		<SwapContainer
			walletTokensWithBalance={balances ?? []}
			nativeTokenBalance={balances?.find((b) => b.token === NATIVE)?.amount}
			preselectedToken={useStore(preselected)}
			onClearPreselection={() => preselected.set(undefined)}
			onTransactionComplete={() => void refreshBalances()}
		/>
	);
}
