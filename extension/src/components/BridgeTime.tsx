import { t } from "../i18n/t";
import { minutes } from "../money/duration";

/** From here on a person had better know that nothing is wrong, in seconds. */
const long = 20 * 60;

/** BridgeTime is about how long a crossing takes, by the provider's estimate. */
export function BridgeTime({ seconds }: { seconds: number }) {
	return (
		<p class="bridge-time small">
			<span class="soft">{t("time_expected")}</span> <span class="number">{minutes(seconds)}</span>
			{seconds >= long && <span class="soft note-line">{t("time_long")}</span>}
		</p>
	);
}
