import type { MessageKey } from "../i18n/keys";

/** What a press of the button does; undefined where it does nothing yet. */
export type Act = "review" | "requote" | "resume";

/** A Condition is what the button says: the first that is not met yet, which keeps
 * it from acting, or what it does. */
export interface Condition {
	key: MessageKey;
	values?: readonly string[];
	act?: Act;
	level?: "warn" | "critical";
	busy?: boolean;
}

/** Facts are what the conditions are about; what is not known yet is undefined. */
export interface Facts {
	network: string;
	/** Set where the provider does not serve the network or the route. */
	unsupported: { key: MessageKey; values?: readonly string[] } | undefined;
	symbolIn: string | undefined;
	symbolOut: string | undefined;
	same: boolean;
	typed: string;
	/** The typed amount in base units; undefined: it cannot be read. */
	amount: string | undefined;
	/** Thousands are set apart in it, or may be meant so. */
	grouped?: boolean;
	balance: string | undefined;
	coin: string;
	/** The native coin that gas lacks, for reading; undefined: enough, or unknown. */
	missingGas: string | undefined;
	quotes: "idle" | "asking" | "shown" | "refreshing" | "expired" | "failed" | "taken";
	failure: { key: MessageKey; values: readonly string[] } | undefined;
	/** Why the chosen offer cannot be carried out. */
	unusable: string | undefined;
	preparing: boolean;
}

/** The order in which conditions are looked at; the first that holds is shown. */
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

/** condition is what the form's button says. */
export function condition(facts: Facts): Condition {
	return conditions.find(([holds]) => holds(facts))![1](facts);
}
