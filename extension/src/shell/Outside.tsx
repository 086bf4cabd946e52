import { Command } from "../components/Command";
import { t } from "../i18n/t";
import { useConnection } from "../state/context";
import { useStore } from "../state/store";

/** Outside says where to confirm what waits for the person outside the browser. */
export function Outside() {
	const [first] = useStore(useConnection().waiting);
	if (!first) return null;
	return (
		<div class="note warn outside" role="status">
			<p>
				<strong>{t("outside_title")}</strong>
			</p>
			<p>{t(first.silenced ? "outside_silenced" : first.shown ? "outside_dialog" : "outside_terminal")}</p>
			<Command text="swapkeep approve" label={t("outside_copy")} />
		</div>
	);
}
