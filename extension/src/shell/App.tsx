import type { ComponentChildren, ComponentType } from "preact";
import { lazy } from "./lazy";
import { useWallet } from "../state/context";
import { useStore } from "../state/store";
import { SwapContainer } from "../swap/SwapContainer";
import { Announcer } from "../components/Announcer";
import { Loading } from "../components/Loading";
import { Header } from "./Header";
import { Navigation } from "./Navigation";
import { preselected } from "./preselected";
import { type Route, route } from "./route";

// What is not on the first screen is loaded when it is opened.
const LinkScreen = lazy(() => import("./link/LinkScreen"));
const Onboarding = lazy(() => import("./onboarding/Onboarding"));
const Unlock = lazy(() => import("./Unlock"));
const screens: { [A in Exclude<Route["at"], "swap">]: ComponentType<{ route: Extract<Route, { at: A }> }> } = {
	activity: lazy(() => import("./activity/Activity")),
	order: lazy(() => import("./activity/OrderScreen")),
	receive: lazy(() => import("./receive/Receive")),
	accounts: lazy(() => import("./accounts/Accounts")),
	networks: lazy(() => import("./Networks")),
	approvals: lazy(() => import("./approvals/Approvals")),
	token: lazy(() => import("./token/TokenScreen")),
	settings: lazy(() => import("./settings/Settings")),
};

/** App shows what there is to be shown: the way to the host, to a wallet, to its
 * unlocking, or the wallet. */
export function App() {
	const wallet = useWallet();
	const hello = useStore(wallet.hello);
	return (
		<div class="app">
			{hello?.banner && (
				<div class="banner" role="note">
					{hello.banner}
				</div>
			)}
			<Stage />
			<Announcer />
		</div>
	);
}

function Stage() {
	const wallet = useWallet();
	const link = useStore(wallet.link);
	const keys = useStore(wallet.keys);
	const at = useStore(route);
	if (link.at !== "ready" && !(link.at === "connecting" && keys)) return page(link.at === "connecting" ? <Waiting /> : <LinkScreen link={link} />);
	if (!keys) return page(<Waiting />);
	if (keys.state === "none") return page(<Onboarding />);
	if (!keys.session) return page(<Unlock />);
	const Shown = at.at === "swap" ? undefined : (screens[at.at] as ComponentType<{ route: Route }>); // each of its own route
	return (
		<>
			<Header />
			{page(Shown ? <Shown route={at} /> : <Swap />)}
			<Navigation />
		</>
	);
}

const page = (content: ComponentChildren) => <main>{content}</main>;

function Waiting() {
	return (
		<div class="waiting">
			<Loading />
		</div>
	);
}

/** Swap hands the container what the wallet knows; the container knows no wallet. */
function Swap() {
	const wallet = useWallet();
	const balances = useStore(wallet.balances);
	return (
		<SwapContainer
			walletTokensWithBalance={balances ?? []}
			nativeTokenBalance={balances?.[0]?.amount}
			preselectedToken={useStore(preselected)}
			onClearPreselection={() => preselected.set(undefined)}
			onTransactionComplete={() => void wallet.refreshBalances()}
		/>
	);
}
