import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import type { Token } from "../wire/protocol";
import { locale, t } from "../i18n/t";
import { formatUSD, inputAmount } from "../money/amount";
import { compactAmount } from "../money/compact-amount";
import { fullAmount } from "../money/token-amount";
import { Avatar } from "./Avatar";
import { Loading } from "./Loading";
import { Named } from "./Named";

interface Props {
	/** Title of the card: "You pay on Ethereum". */
	label: string;
	token: Token | undefined;
	/** With onAmount, as typed, in whole tokens; else a formatted text. */
	amount: string;
	onAmount?: ((typed: string) => void) | undefined;
	onToken: () => void;
	/** Base units. */
	balance?: string | undefined;
	/** The amount in US dollars. */
	usd?: string | undefined;
	/** The most that can be paid, base units. */
	max?: string | undefined;
	onMax?: (() => void) | undefined;
	/** The amount is outdated. */
	dim?: boolean;
	below?: ComponentChildren;
	/** An amount is being loaded. */
	busy?: boolean;
}

/** Shortcuts: percentages of `max`. */
const parts = [25, 50];

/** sizeClass returns a CSS class by the amount's length: longer amounts get a smaller font, so
 * that all digits fit. */
export function sizeClass(amount: string): string {
	const sizes: readonly [number, string][] = [[10, ""], [13, "long"], [18, "longer"]];
	return sizes.find(([most]) => amount.length <= most)?.[1] ?? "longest";
}

/** percentOf returns `percent` of an amount in base units, rounded down. */
export function percentOf(units: string, percent: number): string {
	return ((BigInt(units) * BigInt(percent)) / 100n).toString();
}

/** TokenAmount is one side of the swap form: an input with onAmount, else read-only. */
export function TokenAmount(props: Props) {
	const { label, token, amount, onAmount, onToken, usd, dim = false, below, busy = false } = props;
	const id = useId();
	// A typed amount may have no value yet; an offered one without a value has no price.
	const unpriced = !onAmount && amount !== "" && !busy;
	const size = `amount ${sizeClass(amount)}`;
	return (
		<section class={`card token-amount ${dim ? "dim" : ""}`} aria-label={label}>
			<div class="row apart">
				<label class="soft small" for={id}>
					{label}
				</label>
				{below || <Balance {...props} />}
			</div>
			<div class="row">
				{onAmount ? (
					<input id={id} class={size} value={amount} placeholder="0" inputMode="decimal" autoComplete="off" spellcheck={false} maxLength={90} onInput={(e) => onAmount(e.currentTarget.value)} />
				) : (
					<output id={id} class={`${size} number`} aria-busy={busy}>
						{amount || (busy ? <Loading /> : <span class="soft">0</span>)}
					</output>
				)}
				<TokenButton label={label} token={token} onToken={onToken} />
			</div>
			<div class="row apart small soft under">
				<span class="number cut">{usd === undefined ? unpriced && t("amount_no_price") : `≈ ${formatUSD(usd, locale())}`}</span>
				{below && <Balance {...props} />}
				<Parts {...props} />
			</div>
		</section>
	);
}

function TokenButton({ label, token, onToken }: { label: string; token: Token | undefined; onToken: () => void }) {
	return (
		<button type="button" class={`chip token-button ${token ? "" : "empty"}`} aria-haspopup="dialog" onClick={onToken}>
			<Named name={token ? t("amount_token", label, token.symbol) : t("amount_choose", label)}>
				{token && <Avatar of={token.address} letter={token.symbol} mark={token.mark} />}
				<span class="cut">{token ? token.symbol : t("amount_choose_short")}</span>
				<span>▾</span>
			</Named>
		</button>
	);
}

function Balance({ token, balance }: Props) {
	if (!token || balance === undefined) return null;
	return (
		<span class="number small soft" title={fullAmount(balance, token, locale())}>
			{t("amount_balance", compactAmount(balance, token.decimals, locale()))}
		</span>
	);
}

/** Parts are buttons that fill in a part of what can be paid, or all of it. */
function Parts({ token, max, onMax, onAmount }: Props) {
	if (!token || !onMax || max === undefined || max === "0") return null;
	return (
		<span class="row parts">
			{onAmount &&
				parts.map((percent) => (
					<button key={percent} type="button" class="preset" onClick={() => onAmount(inputAmount(percentOf(max, percent), token.decimals, locale()))}>
						<Named name={t("amount_part", percent)}>{percent} %</Named>
					</button>
				))}
			<button type="button" class="preset" onClick={onMax}>
				<Named name={t("amount_max")}>{t("amount_max_short")}</Named>
			</button>
		</span>
	);
}
