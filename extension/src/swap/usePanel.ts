import { useEffect, useMemo, useReducer, useRef } from "preact/hooks";
import type { FindingCode, Order, ProviderKind, Quoted, Review } from "../wire/protocol";
import { Failure, failureOf } from "../wire/failure";
import { type Channel, openChannel } from "../state/channel";
import { execute } from "./consent";
import { next, type PanelEvent, type PanelState, start } from "./panel";
import { type Query, sameQuery, usable } from "./quotes";

/** Typing pauses this long before a quote is asked for, in ms. */
const settle = 350;
/** How often the daemon is told that somebody still looks, in ms. */
const looking = 30_000;

/** A plan that is looked at is renewed so long before its quote ends, in ms: in time for a
 * signature, but where quotes are short. */
const renewAhead = { short: 2_000, long: 6_000 };
const short = 15_000;
/** How often at most: makers mind being asked, and nobody reads for longer. */
const maxRenewals = 10;

/** A PanelFlow is a panel's state and what a person can do about it. */
export interface PanelFlow {
	state: PanelState;
	channel: Channel;
	choose(offer: string): void;
	review(offer: string): void;
	acknowledge(code: FindingCode, on: boolean): void;
	/** confirm may carry the password, which is kept until consent is handed over. */
	confirm(password?: string): void;
	approve(): void;
	/** close leaves an approval that is not given. */
	close(): void;
	back(): void;
	requote(): void;
}

/** Whose plans a panel shows: of another account or network there are none. */
export interface Owner {
	account: string | undefined;
	chainId: number;
}

/** usePanel runs one panel: it asks for quotes of its own provider through its own
 * handler, has the chosen one prepared, and hands over consent. `query` is what is
 * asked now; undefined while the form is not filled in. */
export function usePanel(kind: ProviderKind, query: Query | undefined, owner: Owner, onOrder: (order: Order) => void): PanelFlow {
	const [state, dispatch] = useReducer(next, start);
	const channel = useMemo(() => openChannel(kind), [kind]);
	useEffect(() => () => channel.close(), [channel]);
	const requote = useQuotes(channel, query, state, dispatch);
	useRenewal(channel, state, dispatch);
	useLeaving(left(state, query, owner), state, dispatch);
	const password = useRef<string | undefined>(undefined);
	const forget = () => (password.current = undefined);
	useStage(channel, state, dispatch, onOrder, () => {
		const given = password.current;
		forget();
		return given;
	});
	return {
		state,
		channel,
		choose: (offer) => dispatch({ event: "chose", offer }),
		review: (offer) => dispatch({ event: "review", offer }),
		acknowledge: (code, on) => dispatch({ event: "acknowledged", code, on }),
		confirm: (given) => {
			password.current = given;
			dispatch({ event: "confirm", request: crypto.randomUUID() });
		},
		approve: () => state.stage.at === "approving" && dispatch({ event: "approved", approval: state.stage.approval, request: crypto.randomUUID() }),
		close: () => {
			forget();
			dispatch({ event: "closed" });
		},
		back: () => {
			forget();
			dispatch({ event: "back" });
		},
		requote,
	};
}

type Dispatch = (e: PanelEvent) => void;

/** Quotes are watched while the form is looked at: not in the review, which shows
 * one plan, and not while the window is hidden. */
function useQuotes(channel: Channel, query: Query | undefined, state: PanelState, dispatch: Dispatch): () => void {
	const asked = useRef<Asked | undefined>(undefined);
	const latest = useRef(query);
	latest.current = query;
	const form = state.stage.at === "form";

	const ask = useMemo(() => () => void watchQuote(channel, latest.current, asked, dispatch), [channel]);
	const stop = useMemo(() => () => {
		asked.current = undefined;
		channel.call("swap.watch", { stop: true }).catch(() => {}); // it pauses by itself otherwise
	}, [channel]);

	useEffect(() => {
		if (!form) return;
		if (!sameQuery(query, state.quotes.query)) dispatch({ event: "asked", query });
		const wait = setTimeout(ask, settle);
		return () => clearTimeout(wait);
	}, [JSON.stringify(query), form]);

	useEffect(() => {
		if (!form) {
			stop();
			return;
		}
		const seen = () => (document.visibilityState === "visible" ? ask() : stop());
		const look = setInterval(() => asked.current && document.visibilityState === "visible" && channel.call("swap.watch", {}).catch(() => {}), looking);
		document.addEventListener("visibilitychange", seen);
		return () => {
			document.removeEventListener("visibilitychange", seen);
			clearInterval(look);
		};
	}, [form, channel]);

	useEffect(() => {
		const forget = [
			channel.on("swap.quoted", (q) => {
				if (asked.current && q.call === asked.current.call) dispatch(answerOf(asked.current.query, q));
			}),
			channel.onTaken(() => dispatch({ event: "taken" })),
			// Another daemon, or another port to it, watches nothing of ours.
			channel.onLink((link) => link.at === "ready" && asked.current && document.visibilityState === "visible" && ask()),
		];
		const tick = setInterval(() => dispatch({ event: "tick", now: Date.now() }), 1000);
		return () => {
			clearInterval(tick);
			for (const f of forget) f();
		};
	}, [channel]);
	return ask;
}

/** A quote that was asked for last: what it asks, and the id of the request. */
interface Asked {
	query: Query;
	call: number;
}

/** watchQuote asks for a query in place of the one before; without one nothing is
 * watched any more. Of an answer that comes after the next was asked nothing is told. */
export async function watchQuote(channel: Channel, query: Query | undefined, asked: { current: Asked | undefined }, dispatch: Dispatch): Promise<void> {
	dispatch({ event: "asked", query });
	if (!query) {
		if (asked.current) channel.call("swap.watch", { stop: true }).catch(() => {}); // it pauses by itself otherwise
		asked.current = undefined;
		return;
	}
	let own: Asked | undefined;
	const begun = (call: number) => void (asked.current = own = { query, call });
	const tell = (e: PanelEvent) => asked.current === own && dispatch(e);
	try {
		const { offers, failures } = await channel.call("swap.quote", { ...query, watch: true }, begun);
		const [failure] = Object.values(failures ?? {});
		tell(answerOf(query, failure ? { offers, failure, done: true } : { offers, done: true }));
	} catch (thrown) {
		tell({ event: "failed", query, failure: failureOf(thrown) });
	}
}

/** A provider that has offers besides its failure has offers. */
function answerOf(query: Query, { offers, failure, done }: Pick<Quoted, "offers" | "failure" | "done">): PanelEvent {
	if (failure && done && offers.length === 0) return { event: "failed", query, failure: new Failure(failure) };
	return { event: "offered", query, offers, done, now: Date.now() };
}

/** useRenewal has a fresh quote take the place of one that is about to end under its
 * review: some live ten seconds. It is another plan, to be looked at, and what was about
 * to be pressed lies still for a moment. Where that fails the button asks for a quote. */
function useRenewal(channel: Channel, { stage, quotes: { query } }: PanelState, dispatch: Dispatch): void {
	const review = stage.at === "review" ? stage.review : undefined;
	const often = stage.at === "review" ? (stage.renewed ?? 0) : 0;
	useEffect(() => {
		if (!review || !query || often >= maxRenewals) return;
		let left = false;
		const renew = () => {
			if (document.visibilityState !== "visible") {
				document.addEventListener("visibilitychange", renew, { once: true }); // nobody looks now
				return;
			}
			renewed(channel, query, review).then((fresh) => left || !fresh || dispatch({ event: "renewed", of: review.digest, review: fresh })).catch(() => {});
		};
		const life = Date.parse(review.expires) - Date.now();
		const timer = setTimeout(renew, Math.max(0, life - (life > short ? renewAhead.long : renewAhead.short)));
		return () => {
			left = true;
			clearTimeout(timer);
			document.removeEventListener("visibilitychange", renew);
		};
	}, [review?.digest]);
}

/** renewed is the plan of a fresh quote of the same way; undefined where that is gone: what
 * takes its place is for the form, where it is chosen. */
export async function renewed(channel: Channel, query: Query, { offer }: Review): Promise<Review | undefined> {
	const { offers } = await channel.call("swap.quote", { ...query });
	const again = offers.find((o) => o.routing === offer.routing && usable(o, Date.now()));
	return again && channel.call("swap.prepare", { offer: again.id });
}

/** left tells whether what is prepared or shown is not wanted any more: the form asks for
 * something else, the slippage that stands above a plan is another, or a plan is of
 * another account or network than those shown around it. */
export function left({ stage, quotes }: PanelState, query: Query | undefined, { account, chainId }: Owner): boolean {
	if (stage.at === "preparing") return !sameQuery(quotes.query, query);
	if (!("review" in stage)) return false;
	const { terms } = stage.review;
	const slipped = query !== undefined && quotes.query !== undefined && query.slippage !== quotes.query.slippage;
	return slipped || terms.account !== account || terms.srcChainId !== chainId;
}

function useLeaving(leave: boolean, { stage }: PanelState, dispatch: Dispatch): void {
	useEffect(() => {
		if (leave) dispatch({ event: "back" });
	}, [leave, stage]);
}

/** useStage carries out what the present stage promises. */
function useStage(channel: Channel, state: PanelState, dispatch: Dispatch, onOrder: (order: Order) => void, takePassword: () => string | undefined): void {
	const { stage } = state;
	useEffect(() => {
		if (stage.at === "preparing") {
			channel
				.call("swap.prepare", { offer: stage.offer })
				.then((review) => dispatch({ event: "reviewed", offer: stage.offer, review }))
				.catch((thrown) => dispatch({ event: "refused", of: stage.offer, failure: failureOf(thrown) }));
		}
		if (stage.at === "executing") {
			execute(channel, stage, takePassword())
				.then((order) => {
					onOrder(order);
					dispatch({ event: "executed", order });
				})
				.catch((thrown) => dispatch({ event: "refused", of: stage.request, failure: failureOf(thrown) }));
		}
	}, [stage]);
}
