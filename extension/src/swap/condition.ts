import type { MessageKey } from "../i18n/keys";

/** What pressing the button does; undefined: nothing yet. */
export type Act = "review" | "requote" | "resume";

/** A Condition is the state of the form's button: the first unmet condition, which disables
 * it, or its action. */
export interface Condition {
	key: MessageKey;
	values?: readonly string[];
	act?: Act;
	level?: "warn" | "critical";
	busy?: boolean;
}

/** Facts are the input of the conditions; undefined means unknown so far. */
export interface Facts {
	network: string;
	/** Why the provider does not support the network or the route. */
	unsupported: { key: MessageKey; values?: readonly string[] } | undefined;
	symbolIn: string | undefined;
	symbolOut: string | undefined;
	same: boolean;
	typed: string;
	/** The typed amount in base units; undefined: it cannot be parsed. */
	amount: string | undefined;
	/** The amount has, or may have, thousands separators. */
	grouped?: boolean;
	balance: string | undefined;
	coin: string;
	/** Native coin missing for gas, formatted; undefined: enough, or unknown. */
	missingGas: string | undefined;
	quotes: "idle" | "asking" | "shown" | "refreshing" | "expired" | "failed" | "taken";
	failure: { key: MessageKey; values: readonly string[] } | undefined;
	/** Why the chosen offer cannot be used. */
	unusable: string | undefined;
	preparing: boolean;
}

/** The conditions in order of precedence; the first that holds is shown. */
const conditions: readonly [(f: Facts) => unknown, (f: Facts) => Condition][] = [
	[(f) => f.unsupported, (f) => f.unsupported!],
	[(f) => !f.symbolIn, () => ({ key: "button_choose_pay" })],
	[(f) => !f.symbolOut, () => ({ key: "button_choose_receive" })],
	[(f) => f.same, () => ({ key: "button_same_token" })],
	[(f) => f.typed.trim() === "", () => ({ key: "button_enter_amount" })],
	[(f) => f.amount === undefined && f.grouped, () => ({ key: "button_grouped_amount" })],
	[(f) => f.amount === undefined, () => ({ key: "button_bad_amount" })],
	[(f) => f.amount === "0", () => ({ key: "button_enter_amount" })],
	[(f) => f.balance !== undefined && BigInt(f.amount!) > BigInt(f.balance), (f) => ({ key: "button_balance", values: [f.symbolIn!] })],
	[(f) => f.missingGas, (f) => ({ key: "button_gas", values: [f.missingGas!, f.coin], level: "critical" })],
	[(f) => f.quotes === "taken", () => ({ key: "button_resume", act: "resume" })],
	[(f) => f.quotes === "failed", (f) => ({ key: f.failure?.key ?? "button_no_offer", values: f.failure?.values ?? [], act: "requote" })],
	[(f) => f.quotes === "expired", () => ({ key: "button_requote", act: "requote" })],
	[(f) => f.quotes === "idle" || f.quotes === "asking", () => ({ key: "button_quoting", busy: true })],
	[(f) => f.quotes === "refreshing", () => ({ key: "button_refreshing", busy: true })],
	[(f) => f.unusable, (f) => ({ key: "button_unusable", values: [f.unusable!] })],
	[(f) => f.preparing, () => ({ key: "button_preparing", busy: true })],
	[() => true, () => ({ key: "button_review", act: "review" })],
];

/** condition returns the state of the form's button. */
export function condition(facts: Facts): Condition {
	return conditions.find(([holds]) => holds(facts))![1](facts);
}
