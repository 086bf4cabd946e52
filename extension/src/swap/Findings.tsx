import type { Finding, FindingCode } from "../wire/protocol";
import { Icon } from "../components/Icon";
import { filled, type Formatters } from "../i18n/filled";
import { optionalMessage, locale, t } from "../i18n/t";
import { formatCost } from "../money/amount";
import { bpsAsPercent } from "../money/percent";
import { shortAmount, type Unit } from "../money/token-amount";
import { errorTitle } from "../order/failure-words";
import { trusted } from "../order/trusted";

interface Props {
	findings: readonly Finding[];
	acknowledged: readonly FindingCode[];
	coin: Unit;
	token: Unit | undefined;
	onAcknowledge: (code: FindingCode, on: boolean) => void;
}

/** The class of each severity. Icons and text say it too, not only the colour. */
const severityClass = { block: "critical", acknowledge: "critical", warn: "warn", note: "" } as const;
const marks = { block: "stop", acknowledge: "warn", warn: "warn", note: "info" } as const;
const order = ["block", "acknowledge", "warn", "note"] as const;

/** Findings lists what the daemon found about a plan, most severe first. A finding that
 * must be acknowledged has its own checkbox. */
export function Findings({ findings, acknowledged, coin, token, onAcknowledge }: Props) {
	const sorted = [...findings].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
	return (
		<>
			{sorted.map((f) => (
				<div key={f.code} class={`note stack tight ${severityClass[f.severity] ?? "warn"}`} role={f.severity === "block" ? "alert" : undefined}>
					<p class="row marked">
						<Icon name={marks[f.severity] ?? "warn"} />
						<span>{words(f, coin, token)}</span>
					</p>
					{f.severity === "acknowledge" && (
						<label class="choice">
							<input type="checkbox" checked={acknowledged.includes(f.code)} onChange={(e) => onAcknowledge(f.code, e.currentTarget.checked)} />
							<span>{optionalMessage(`acknowledge_${f.code}`) ?? t("acknowledge")}</span>
						</label>
					)}
				</div>
			))}
		</>
	);
}

/** words returns a finding in the user's language, else the daemon's text. */
export function words(f: Finding, coin: Unit, token: Unit | undefined): string {
	const amount = (unit: Unit | undefined) => (units: string) => unit && shortAmount(units, unit, locale());
	const formatters: Formatters = {
		coin: amount(coin), tokenOut: amount(token), trusted,
		worth: (wei, usd) => (usd ? formatCost(usd, locale()) : amount(coin)(wei)),
		error: (name) => errorTitle(name),
		basisPoints: (bps) => bpsAsPercent(Number(bps)),
	};
	return filled(`finding_${f.code}`, f.data ?? {}, formatters) ?? f.text;
}
