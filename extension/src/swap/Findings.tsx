import type { Finding, FindingCode, Token } from "../wire/protocol";
import { Icon } from "../components/Icon";
import { optionalMessage, locale, t } from "../i18n/t";
import { displayAmount } from "../money/amount";
import { trusted } from "../order/trusted";

interface Props {
	findings: readonly Finding[];
	acknowledged: readonly FindingCode[];
	coin: { symbol: string; decimals: number };
	token: Token | undefined;
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

/** Which values of a finding are amounts: of the native coin, or of the token received. */
const inCoin: Partial<Record<string, readonly string[]>> = {
	gas_insufficient: ["missing", "needed", "balance"],
	gas_ceiling: ["max", "ceiling"],
	gas_excessive: ["expected", "value"],
	ceiling_raised: ["accepted", "proposed"],
};
const inToken: Partial<Record<string, readonly string[]>> = { price_impact: ["offered", "own"], minimum_lowered: ["accepted", "proposed"] };

/** words returns a finding in the user's language, else the daemon's text. */
export function words(f: Finding, coin: { symbol: string; decimals: number }, token: Token | undefined): string {
	const unit = inCoin[f.code] ? coin : token;
	const names = inCoin[f.code] ?? inToken[f.code] ?? Object.keys(f.data ?? {}).sort();
	const amounts = (inCoin[f.code] ?? inToken[f.code]) !== undefined;
	const values = names.map((n) => {
		const value = f.data?.[n] ?? "";
		if (n === "trustedTo") return trusted(value);
		return amounts && unit && /^\d+$/.test(value) ? `${displayAmount(value, unit.decimals, 6, locale())} ${unit.symbol}` : value;
	});
	return optionalMessage(`finding_${f.code}`, ...values) ?? f.text;
}
