import type { Approval, FindingCode, Offer, Order, Review } from "../wire/protocol";
import type { Failure } from "../wire/failure";
import { noQuotes, type QuoteEvent, quoted, type Quotes, sameSwap } from "./quotes";

/** The stage of a panel between form and order; each has one screen.
 * form: inputs and offers.
 * preparing: the daemon builds and checks the plan.
 * review: what will be signed; quotes are frozen, and an expiring one is renewed.
 * approving: the approval dialog, once per allowance.
 * executing: consent is sent to the daemon.
 * tracking: the progress of the order. */
export type Stage =
	| { at: "form" }
	| { at: "preparing"; offer: string }
	| ({ at: "review" } & ReviewedPlan)
	| ({ at: "approving"; approval: number } & ReviewedPlan)
	| ({ at: "executing"; request: string } & ReviewedPlan)
	| { at: "tracking"; order: string };

/** ReviewedPlan is the plan that is shown, from review to consent. */
interface ReviewedPlan {
	review: Review;
	acknowledged: readonly FindingCode[];
	/** How often its quote was renewed. */
	renewed?: number;
	/** If renewed: the minimum received of the plan that was shown first, base units. */
	first?: string;
}

/** A Choice is an offer that the user picked, with what identifies it in later quotes. */
export type Choice = Pick<Offer, "id" | "routing" | "route">;

export interface PanelState {
	stage: Stage;
	quotes: Quotes;
	/** What the user picked; undefined: the best. It is kept while the quotes lack it. */
	chosen: Choice | undefined;
	/** Why the last act was refused; shown until the next. */
	failure: Failure | undefined;
}

export const start: PanelState = { stage: { at: "form" }, quotes: noQuotes, chosen: undefined, failure: undefined };

export type PanelEvent =
	| QuoteEvent
	| { event: "chose"; offer: string }
	| { event: "review"; offer: string }
	| { event: "reviewed"; offer: string; review: Review }
	/** of: digest of the plan whose quote was expiring. */
	| { event: "renewed"; of: string; review: Review }
	| { event: "acknowledged"; code: FindingCode; on: boolean }
	| { event: "confirm"; request: string }
	/** approval: index of the one shown, so that a double click approves only that one. */
	| { event: "approved"; approval: number; request: string }
	| { event: "executed"; order: Order }
	/** of: the offer or the request that was refused. */
	| { event: "refused"; of: string; failure: Failure }
	| { event: "closed" }
	| { event: "back" };

/** next returns the panel's next state. Events that do not fit the present stage, such as
 * late answers and double clicks, change nothing. */
export function next(state: PanelState, e: PanelEvent): PanelState {
	switch (e.event) {
		case "asked":
		case "offered":
		case "failed":
		case "taken":
			return requoted(state, quoted(state.quotes, e));
		case "tick": // while there are offers, the views depend on the time
			return state.quotes.offers.length > 0 ? { ...state, quotes: quoted(state.quotes, e) } : state;
		case "chose":
			return { ...state, chosen: state.quotes.offers.find((o) => o.id === e.offer) ?? state.chosen };
		case "closed": // the approval was not given: back to the review
			return state.stage.at === "approving" ? { ...state, stage: lookedAt(state.stage) } : state;
		case "back": // consent cannot be taken back here
			return state.stage.at === "executing" ? state : { ...state, stage: { at: "form" }, failure: undefined };
		case "refused":
			return refused(state, e);
		default:
			return staged(state, e);
	}
}

function requoted(state: PanelState, quotes: Quotes): PanelState {
	if (quotes === state.quotes) return state;
	const { chosen } = state;
	const other = quotes.query && state.quotes.query && !sameSwap(quotes.query, state.quotes.query);
	return { ...state, quotes, chosen: other ? undefined : chosen && sameChoice(chosen, quotes) };
}

/** sameChoice finds the user's choice among new offers, whose ids are new: by routing and route,
 * or else the only one with that routing. Otherwise the choice is kept for later quotes. */
function sameChoice(chosen: Choice, { offers }: Quotes): Choice {
	if (offers.some((o) => o.id === chosen.id)) return chosen;
	const alike = offers.filter((o) => o.routing === chosen.routing);
	return alike.find((o) => o.route === chosen.route) ?? (alike.length === 1 ? alike[0]! : chosen);
}

/** requiredAcknowledgements returns the codes of the findings that must be acknowledged. */
export function requiredAcknowledgements(review: Review): FindingCode[] {
	return review.findings.filter((f) => f.severity === "acknowledge").map((f) => f.code);
}

/** approvals returns the steps that give a spender access to a token, one per allowance, to be
 * shown singly before consent. A swap that submits an earlier permit is not counted again. */
export function approvals(review: Review): Review["steps"] {
	const all = review.steps.flatMap((s) => (s.effect.approves ?? []).map((a) => ({ ...s, effect: { ...s.effect, approves: [a] } })));
	return all.filter((s, i) => !all.slice(0, i).some((b) => b.effect.kind === "permit" && sameAllowance(b.effect.approves[0], s.effect.approves[0])));
}

function sameAllowance(a: Approval | undefined, b: Approval | undefined): boolean {
	return !!a && !!b && a.token === b.token && a.spender === b.spender && a.amount === b.amount;
}

type StageEvent = Exclude<PanelEvent, QuoteEvent | { event: "chose" | "closed" | "back" | "refused" }>;

function staged(state: PanelState, e: StageEvent): PanelState {
	const { stage } = state;
	const go = (to: Stage): PanelState => ({ ...state, stage: to, failure: undefined });
	switch (e.event) {
		case "review":
			return stage.at === "form" ? go({ at: "preparing", offer: e.offer }) : state;
		case "reviewed":
			return stage.at === "preparing" && stage.offer === e.offer ? go({ at: "review", review: e.review, acknowledged: [] }) : state;
		case "renewed":
			if (stage.at !== "review" || stage.review.digest !== e.of) return state;
			return { ...state, failure: withoutExpiry(state.failure), stage: { at: "review", review: e.review, acknowledged: noWorse(e.review, stage.review) ? stage.acknowledged.filter((code) => sameFinding(code, stage.review, e.review)) : [], renewed: (stage.renewed ?? 0) + 1, first: stage.first ?? stage.review.terms.minOut } };
		case "acknowledged": {
			if (stage.at !== "review" || !requiredAcknowledgements(stage.review).includes(e.code)) return state;
			const others = stage.acknowledged.filter((code) => code !== e.code);
			return go({ ...stage, acknowledged: e.on ? [...others, e.code] : others });
		}
		case "confirm":
			return stage.at === "review" && mayConfirm(stage) ? go(consent(stage, 0, e.request)) : state;
		case "approved":
			return stage.at === "approving" && stage.approval === e.approval ? go(consent(stage, stage.approval + 1, e.request)) : state;
		case "executed":
			return stage.at === "executing" ? { ...start, stage: { at: "tracking", order: e.order.id } } : state;
	}
}

/** noWorse reports whether a renewed plan is no worse: at least the same minimum received,
 * with the same routing, fees, recipient and settlement. Otherwise earlier acknowledgements
 * do not count. */
function noWorse(is: Review, was: Review): boolean {
	const same = (r: Review) => JSON.stringify([r.offer.routing, r.terms.feeBps, r.terms.makerFeeBps, r.terms.recipient, r.settlement]);
	return same(is) === same(was) && BigInt(is.terms.minOut) >= BigInt(was.terms.minOut);
}

/** sameFinding reports whether both plans have exactly the same finding, so that its
 * acknowledgement still counts. */
function sameFinding(code: FindingCode, was: Review, is: Review): boolean {
	const said = (r: Review) => JSON.stringify(r.findings.filter((f) => f.code === code));
	return said(was) === said(is);
}

/** mayConfirm reports whether nothing blocks the plan and all demanded findings acknowledged. */
export function mayConfirm(stage: { review: Review; acknowledged: readonly FindingCode[] }): boolean {
	return !stage.review.blocked && requiredAcknowledgements(stage.review).every((code) => stage.acknowledged.includes(code));
}

// The next approval to show, or execution after the last.
function consent(stage: ReviewedPlan, approval: number, request: string): Stage {
	return approval < approvals(stage.review).length ? { ...looked(stage), at: "approving", approval } : { ...looked(stage), at: "executing", request };
}

function looked({ review, acknowledged, renewed, first }: ReviewedPlan): ReviewedPlan {
	return { review, acknowledged, ...(renewed ? { renewed } : {}), ...(first ? { first } : {}) };
}

function lookedAt(stage: ReviewedPlan): Stage {
	return { ...looked(stage), at: "review" };
}

/** withoutExpiry drops the quote_expired failure, which a renewal has resolved. */
function withoutExpiry(failure: Failure | undefined): Failure | undefined {
	return failure?.is("quote_expired") ? undefined : failure;
}

/** refused returns to the stage where the act began, with the reason; a plan with an expired
 * quote is renewed there. If the plan is gone or was never built, it returns to the form. */
function refused(state: PanelState, { of, failure }: { of: string; failure: Failure }): PanelState {
	const { stage } = state;
	if (of !== (stage.at === "preparing" ? stage.offer : stage.at === "executing" ? stage.request : undefined)) return state;
	const gone = stage.at === "preparing" || failure.is("plan_unknown", "plan_executed", "quote_unknown", "session_required", "locked");
	if (stage.at === "executing" && !gone) return { ...state, stage: lookedAt(stage), failure };
	return { ...state, stage: { at: "form" }, failure };
}
