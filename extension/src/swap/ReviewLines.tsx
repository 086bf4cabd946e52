import { reviewLine } from "../i18n/review-line";
import { t } from "../i18n/t";
import { useConnection } from "../state/context";
import { useStore } from "../state/store";
import type { Line } from "../wire/protocol";

/** ReviewLines lists what the person confirms, in the words that terminal and dialogs show. It is
 * open if that is where it is confirmed. */
export function ReviewLines({ lines }: { lines: readonly Line[] }) {
	const outside = useStore(useConnection().settings).some((s) => s.key === "confirm" && s.value === "outside");
	if (lines.length === 0) return null;
	return (
		<details class="lines" open={outside}>
			<summary>{t(outside ? "review_lines_outside" : "review_lines")}</summary>
			<ol>
				{lines.map((line, i) => (
					<li key={i} class={line.severity === "note" ? undefined : "warn"}>
						{reviewLine(line)}
					</li>
				))}
			</ol>
		</details>
	);
}
