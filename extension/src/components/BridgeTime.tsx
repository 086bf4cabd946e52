import { t } from "../i18n/t";
import { approximateDuration } from "../money/duration";

/** From this duration on, in seconds, the user is told that a long wait is normal. */
const longBridge = 20 * 60;

/** BridgeTime shows about how long a bridge transfer takes, by the provider's estimate. */
export function BridgeTime({ seconds }: { seconds: number }) {
	return (
		<p class="bridge-time small">
			<span class="soft">{t("time_expected")}</span> <span class="number">{approximateDuration(seconds)}</span>
			{seconds >= longBridge && <span class="soft note-line">{t("time_long")}</span>}
		</p>
	);
}
