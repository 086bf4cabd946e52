import { Icon, type IconName } from "../components/Icon";
import type { MessageKey } from "../i18n/keys";
import { t } from "../i18n/t";
import { useOrders } from "../state/context";
import { useStore } from "../state/store";
import { go, type Route, route } from "./route";

const tabs: readonly { to: Route["at"] & ("swap" | "assets" | "activity" | "receive" | "settings"); key: MessageKey; icon: IconName }[] = [
	{ to: "swap", key: "nav_swap", icon: "swap" },
	{ to: "assets", key: "nav_assets", icon: "assets" },
	{ to: "activity", key: "nav_activity", icon: "activity" },
	{ to: "receive", key: "nav_receive", icon: "receive" },
	{ to: "settings", key: "nav_settings", icon: "settings" },
];

/** Navigation is the tab bar between the main screens. */
export function Navigation() {
	const at = useStore(route).at;
	const open = useStore(useOrders().orders, (orders) => orders.filter((o) => !o.ended).length);
	return (
		<nav class="navigation" aria-label={t("nav")}>
			{tabs.map((tab) => (
				<button key={tab.to} type="button" aria-current={at === tab.to ? "page" : undefined} onClick={() => go({ at: tab.to })}>
					<Icon name={tab.icon} />
					{t(tab.key)}
					{tab.to === "activity" && open > 0 && <span class="count">{open}</span>}
				</button>
			))}
		</nav>
	);
}
