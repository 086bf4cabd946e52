import type { Approval, FindingCode, Offer, Order, Review } from "../wire/protocol";
import type { Failure } from "../wire/failure";
import { noQuotes, type QuoteEvent, quoted, type Quotes, sameSwap } from "./quotes";

/** Where a panel is between form and order. Each state has one screen.
 * form: inputs and offers. preparing: the daemon builds and checks the plan.
 * review: what would be signed; quotes are frozen, and one that runs out is renewed. approving: the approval modal, one
 * for each allowance. executing: consent goes to the daemon. tracking: the order's
 * own screen. */
export type Stage =
	| { at: "form" }
	| { at: "preparing"; offer: string }
	| ({ at: "review" } & Looked)
	| ({ at: "approving"; approval: number } & Looked)
	| ({ at: "executing"; request: string } & Looked)
	| { at: "tracking"; order: string };

/** Looked is a plan that is looked at, from its review to the consent to it. */
interface Looked {
	review: Review;
	acknowledged: readonly FindingCode[];
	/** How often its quote ran out and was renewed. */
	renewed?: number;
	/** Of a renewed one: the least that the plan gave which was shown first, base units. */
	first?: string;
}

/** A Choice is an offer that the user picked, and what it is known by in later quotes. */
export type Choice = Pick<Offer, "id" | "routing" | "route">;

export interface PanelState {
	stage: Stage;
	quotes: Quotes;
	/** What the user chose; undefined: the best. It outlives quotes that do not have it. */
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
	/** of: the digest of the plan whose quote ran out. */
	| { event: "renewed"; of: string; review: Review }
	| { event: "acknowledged"; code: FindingCode; on: boolean }
	| { event: "confirm"; request: string }
	/** approval: the one that was shown, so that a second press approves no other. */
	| { event: "approved"; approval: number; request: string }
	| { event: "executed"; order: Order }
	/** of: the offer or the request that was refused. */
	| { event: "refused"; of: string; failure: Failure }
	| { event: "closed" }
	| { event: "back" };

/** next is the panel's next state. What does not fit the present stage changes
 * nothing: an answer that comes late, a second press. */
export function next(state: PanelState, e: PanelEvent): PanelState {
	switch (e.event) {
		case "asked":
		case "offered":
		case "failed":
		case "taken":
			return requoted(state, quoted(state.quotes, e));
		case "tick": // the views go by the clock while there are offers
			return state.quotes.offers.length > 0 ? { ...state, quotes: quoted(state.quotes, e) } : state;
		case "chose":
			return { ...state, chosen: state.quotes.offers.find((o) => o.id === e.offer) ?? state.chosen };
		case "closed": // an approval that was not given: the plan is looked at again
			return state.stage.at === "approving" ? { ...state, stage: lookedAt(state.stage) } : state;
		case "back": // consent that was given cannot be taken back here
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

/** sameChoice is the choice among new offers, which have new ids: the one of its routing
 * and route, or the only one of its routing. Where there is none it waits for the next. */
function sameChoice(chosen: Choice, { offers }: Quotes): Choice {
	if (offers.some((o) => o.id === chosen.id)) return chosen;
	const alike = offers.filter((o) => o.routing === chosen.routing);
	return alike.find((o) => o.route === chosen.route) ?? (alike.length === 1 ? alike[0]! : chosen);
}

/** Codes of the findings that need a second act of the user's. */
export function demanded(review: Review): FindingCode[] {
	return review.findings.filter((f) => f.severity === "acknowledge").map((f) => f.code);
}

/** approvals are the steps that let somebody pull a token, one for each allowance of a
 * step: each is shown by itself before consent. The swap that carries a permit to the
 * chain repeats it, and is no further one. */
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
			return { ...state, failure: unlessLate(state.failure), stage: { at: "review", review: e.review, acknowledged: asGood(e.review, stage.review) ? stage.acknowledged.filter((code) => sameFinding(code, stage.review, e.review)) : [], renewed: (stage.renewed ?? 0) + 1, first: stage.first ?? stage.review.terms.floorOut } };
		case "acknowledged": {
			if (stage.at !== "review" || !demanded(stage.review).includes(e.code)) return state;
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

/** asGood reports a plan by which no less arrives, on the same way and for the same fees:
 * what was acknowledged of a plan is not acknowledged of one that is worse. */
function asGood(is: Review, was: Review): boolean {
	const same = (r: Review) => JSON.stringify([r.offer.routing, r.terms.feeBps, r.terms.makerFeeBps, r.terms.recipient, r.settlement]);
	return same(is) === same(was) && BigInt(is.terms.floorOut) >= BigInt(was.terms.floorOut);
}

/** What was acknowledged stays so where the new plan says the very same. */
function sameFinding(code: FindingCode, was: Review, is: Review): boolean {
	const said = (r: Review) => JSON.stringify(r.findings.filter((f) => f.code === code));
	return said(was) === said(is);
}

/** mayConfirm once every finding that demands it was acknowledged. */
export function mayConfirm(stage: { review: Review; acknowledged: readonly FindingCode[] }): boolean {
	return !stage.review.blocked && demanded(stage.review).every((code) => stage.acknowledged.includes(code));
}

// The next approval to be shown, or consent once all were.
function consent(stage: Looked, approval: number, request: string): Stage {
	return approval < approvals(stage.review).length ? { ...looked(stage), at: "approving", approval } : { ...looked(stage), at: "executing", request };
}

function looked({ review, acknowledged, renewed, first }: Looked): Looked {
	return { review, acknowledged, ...(renewed ? { renewed } : {}), ...(first ? { first } : {}) };
}

function lookedAt(stage: Looked): Stage {
	return { ...looked(stage), at: "review" };
}

/** That a quote ran out says nothing any more once it is renewed. */
function unlessLate(failure: Failure | undefined): Failure | undefined {
	return failure?.is("quote_expired") ? undefined : failure;
}

/** A refused act leaves the user where the act began, with the reason: a plan whose quote
 * ran out meanwhile is renewed there. One that is gone, or was never made, leaves nothing
 * to review. */
function refused(state: PanelState, { of, failure }: { of: string; failure: Failure }): PanelState {
	const { stage } = state;
	if (of !== (stage.at === "preparing" ? stage.offer : stage.at === "executing" ? stage.request : undefined)) return state;
	const gone = stage.at === "preparing" || failure.is("plan_unknown", "plan_executed", "quote_unknown", "session_required", "locked");
	if (stage.at === "executing" && !gone) return { ...state, stage: lookedAt(stage), failure };
	return { ...state, stage: { at: "form" }, failure };
}
