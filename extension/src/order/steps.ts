import { contractName } from "../components/address";
import type { MessageKey } from "../i18n/keys";
import type { EffectKind, Order, OrderState, Step } from "../wire/protocol";
import { fundLine } from "./isolated";
import { type Line, line, type OrderFormatter } from "./line";

export type StepMark = "preview" | "active" | "waiting" | "done" | "skipped" | "failed" | "dropped";

/** The name of each mark. */
export const stepMarks: Record<StepMark, MessageKey> = {
	preview: "order_mark_preview", active: "order_mark_active", waiting: "order_mark_waiting", done: "order_mark_done",
	skipped: "order_mark_skipped", failed: "order_mark_failed", dropped: "order_mark_dropped",
};

/** A StepLine is one row in the list of an order's steps. */
export interface StepLine {
	mark: StepMark;
	title: Line;
	note?: Line;
	link?: { chainId: number; tx: string };
}

/** SettlementKind says what ends an order: the wallet's own call, a maker that fills the signed
 * order, the recipient of a deposit, or the wallet's own call that revokes an allowance. */
export type SettlementKind = "own" | "signed" | "deposit" | "revoke";

export function settlementKind(order: Pick<Order, "steps" | "terms">): SettlementKind {
	if (order.terms.provider === "wallet") return "revoke";
	const last = order.steps.at(-1)?.effect;
	if (last?.kind === "order") return "signed";
	if (last?.kind === "deposit" || last?.trustedTo) return "deposit";
	return order.terms.srcChainId === order.terms.dstChainId ? "own" : "deposit";
}

/** trusted names who settles what the order hands over. */
export function trusted(order: Pick<Order, "steps" | "terms">, format: OrderFormatter): string {
	const who = order.steps.at(-1)?.effect.trustedTo;
	return who ? format.trusted(who) : format.provider(order.terms.provider);
}

/** handedOver reports whether others have the order's input. One that has not got so far is closed
 * only where its network was shut down. */
export const handedOver = (order: Pick<Order, "steps" | "terms">) => settlementKind(order) !== "signed" && order.steps.every((s) => s.done);

/** spender names a spender: a contract with a common name, else the provider and the address. */
function spender(address: string, { terms }: Order, format: OrderFormatter): string {
	if (contractName(address) || terms.provider === "wallet") return format.account(address);
	return `${format.provider(terms.provider)} ${format.account(address)}`;
}

/** What each kind of step does. */
const does: Record<EffectKind, (s: Step, o: Order, format: OrderFormatter) => Line> = {
	fund: (s, o, format) => fundLine(s.effect, o.terms, format),
	approve: (s, o, format) => {
		const [a] = s.effect.approves ?? [];
		if (!a) return line("order_step_call");
		if (BigInt(a.amount) === 0n) return line(o.terms.provider === "wallet" ? "order_step_revoke" : "order_step_reset", spender(a.spender, o, format));
		return line("order_step_approve", spender(a.spender, o, format), format.amount(s.effect.chainId, a.token, a.amount));
	},
	permit: (_, o, format) => line("order_step_permit", format.amount(o.terms.srcChainId, o.terms.wrap ?? o.terms.tokenIn, o.terms.amountIn)),
	swap: (_, o, format) => line("order_step_swap", format.amount(o.terms.srcChainId, o.terms.tokenIn, o.terms.amountIn)),
	wrap: (_, o, format) => line("order_step_wrap", format.amount(o.terms.srcChainId, o.terms.tokenIn, o.terms.amountIn)),
	unwrap: (_, o, format) => line("order_step_unwrap", format.amount(o.terms.srcChainId, o.terms.tokenIn, o.terms.amountIn)),
	order: () => line("order_step_order"),
	deposit: (_, o, format) => line("order_step_deposit", format.amount(o.terms.srcChainId, o.terms.tokenIn, o.terms.amountIn), trusted(o, format)),
	opaque: (_, o, format) => line("order_step_opaque", format.amount(o.terms.srcChainId, o.terms.tokenIn, o.terms.amountIn), trusted(o, format)),
};

/** The row after the last step: how the order ends. */
const ends: Record<SettlementKind, (o: Order, format: OrderFormatter) => Line> = {
	own: () => line("order_step_settle_own"),
	revoke: () => line("order_step_settle_own"),
	signed: () => line("order_step_settle_signed"),
	deposit: (o, format) => line("order_step_settle_deposit", trusted(o, format), format.network(o.terms.dstChainId)),
};

/** stepLines returns an order's steps and what follows them. While the order is open,
 * exactly one is active or waiting; those before it are done. */
export function stepLines(order: Order, format: OrderFormatter): StepLine[] {
	const own = order.steps.map((s, i) => ownStep(order, s, i, format));
	const tail: StepLine[] = [];
	if (settlementKind(order) === "signed" || order.submission || order.state === "submitting") tail.push(handOver(order, format));
	tail.push(settling(order, format));
	return [...own, ...tail];
}

const carrying: readonly OrderState[] = ["accepted", "approving", "executing"];

/** A step is "waiting" if a condition other than cancelling keeps the order from going on. */
const underWay = (order: Order): StepMark => (order.condition && order.condition !== "cancelling" ? "waiting" : "active");

function ownStep(order: Order, step: Step, at: number, format: OrderFormatter): StepLine {
	const title = (rowFor(step.effect.kind) ?? (() => line("order_step_call")))(step, order, format);
	const chainId = step.effect.chainId;
	const link = step.tx ? { link: { chainId, tx: step.tx } } : {};
	if (step.skipped) return { mark: "skipped", title };
	if (step.done) return { mark: "done", title, ...link };
	const now = at === order.step && carrying.includes(order.state);
	if (order.final && at >= order.step) return { mark: at === order.step && order.state === "failed" ? "failed" : "dropped", title, ...link };
	if (!now) return { mark: at < order.step || !carrying.includes(order.state) ? "done" : "preview", title, ...link };
	const sent = order.currentTx ? { note: line("order_note_sent"), link: { chainId, tx: order.currentTx } } : {};
	const signing = step.kind === "typed" && !order.condition ? { note: line("order_note_signing") } : {};
	return { mark: underWay(order), title, ...signing, ...sent };
}

const rowFor = (kind: string) => (Object.hasOwn(does, kind) ? does[kind as EffectKind] : undefined);

function handOver(order: Order, format: OrderFormatter): StepLine {
	const title = line("order_step_submit", format.provider(order.terms.provider));
	const tries = order.submission ? { note: line("order_note_tries", String(order.submission.tries)) } : {};
	if (order.state === "submitting") return { mark: underWay(order), title, ...tries };
	if (carrying.includes(order.state)) return { mark: "preview", title };
	if (order.submission?.refused) return { mark: "failed", title, note: line("order_note_refused") };
	return { mark: order.final && order.state !== "filled" && !order.submission ? "dropped" : "done", title };
}

function settling(order: Order, format: OrderFormatter): StepLine {
	const title = ends[settlementKind(order)](order, format);
	const { evidence } = order.verdict ?? {};
	const link = evidence ? { link: { chainId: evidence.chainId, tx: evidence.tx } } : {};
	if (order.state === "filled") return { mark: "done", title, ...link };
	if (order.state === "refunded") return { mark: "failed", title, note: line("order_note_refunded"), ...link };
	if (order.final) return { mark: order.state === "failed" && order.steps.every((s) => s.done) ? "failed" : "dropped", title };
	if (order.condition === "likely_paid" && (order.state === "settling" || order.state === "closed")) return { mark: "waiting", title, note: line("order_note_reported") };
	if (order.state === "closed") return { mark: "waiting", title }; // nobody knows that it was not done
	return { mark: order.state === "settling" ? underWay(order) : "preview", title };
}
