import { useEffect, useMemo, useReducer, useRef } from "preact/hooks";
import type { FindingCode, Order, ProviderKind, Quoted, Review } from "../wire/protocol";
import { Failure, failureOf } from "../wire/failure";
import { type Channel, openChannel } from "../state/channel";
import { execute } from "./consent";
import { next, type PanelEvent, type PanelState, start } from "./panel";
import { type Query, sameQuery, usable } from "./quotes";

/** Debounce of the input before a quote is requested, in ms. */
const inputDebounce = 350;
/** How often the daemon is told that the quote is still wanted, in ms. */
const watchInterval = 30_000;

/** How long before the end of its quote a reviewed plan is renewed, in ms. `long` leaves
 * time to sign, but is too long for quotes that live less than `short`. */
const renewAhead = { short: 2_000, long: 6_000 };
const short = 15_000;
/** Limit of renewals, since market makers mind frequent requests and nobody reads for longer. */
const maxRenewals = 10;

/** A PanelFlow is a panel's state and the user's actions. */
export interface PanelFlow {
	state: PanelState;
	channel: Channel;
	choose(offer: string): void;
	review(offer: string): void;
	acknowledge(code: FindingCode, on: boolean): void;
	/** confirm may carry the password, which is kept until consent is sent. */
	confirm(password?: string): void;
	approve(): void;
	/** close leaves an approval without giving it. */
	close(): void;
	back(): void;
	requote(): void;
}

/** The account and network whose plans a panel shows. */
export interface Owner {
	account: string | undefined;
	chainId: number;
}

/** usePanel runs one panel: it requests quotes from its provider through its own handler,
 * has the chosen offer prepared, and sends the consent. `query` is undefined while the form
 * is incomplete. */
export function usePanel(kind: ProviderKind, query: Query | undefined, owner: Owner, onOrder: (order: Order) => void): PanelFlow {
	const [state, dispatch] = useReducer(next, start);
	const channel = useMemo(() => openChannel(kind), [kind]);
	useEffect(() => () => channel.close(), [channel]);
	const requote = useQuotes(channel, query, state, dispatch);
	useRenewal(channel, state, dispatch);
	useLeaving(planAbandoned(state, query, owner), state, dispatch);
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

/** useQuotes watches quotes while the form is visible; not during the review, which shows
 * one plan, nor while the window is hidden. */
function useQuotes(channel: Channel, query: Query | undefined, state: PanelState, dispatch: Dispatch): () => void {
	const asked = useRef<Asked | undefined>(undefined);
	const latest = useRef(query);
	latest.current = query;
	const form = state.stage.at === "form";

	const ask = useMemo(() => () => void watchQuote(channel, latest.current, asked, dispatch), [channel]);
	const stop = useMemo(() => () => {
		asked.current = undefined;
		channel.call("swap.watch", { stop: true }).catch(() => {}); // on failure the watch ends by itself later
	}, [channel]);

	useEffect(() => {
		if (!form) return;
		if (!sameQuery(query, state.quotes.query)) dispatch({ event: "asked", query });
		const wait = setTimeout(ask, inputDebounce);
		return () => clearTimeout(wait);
	}, [JSON.stringify(query), form]);

	useEffect(() => {
		if (!form) {
			stop();
			return;
		}
		const seen = () => (document.visibilityState === "visible" ? ask() : stop());
		const look = setInterval(() => asked.current && document.visibilityState === "visible" && channel.call("swap.watch", {}).catch(() => {}), watchInterval);
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
			channel.onWatchTaken(() => dispatch({ event: "taken" })),
			// A new daemon or connection has no watch of ours.
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

/** The latest quote request: its query and its id. */
interface Asked {
	query: Query;
	call: number;
}

/** watchQuote replaces the watched query; undefined ends the watch. An answer that arrives
 * after the next request is ignored. */
export async function watchQuote(channel: Channel, query: Query | undefined, asked: { current: Asked | undefined }, dispatch: Dispatch): Promise<void> {
	dispatch({ event: "asked", query });
	if (!query) {
		if (asked.current) channel.call("swap.watch", { stop: true }).catch(() => {}); // on failure the watch ends by itself later
		asked.current = undefined;
		return;
	}
	let own: Asked | undefined;
	const onID = (call: number) => void (asked.current = own = { query, call });
	const tell = (e: PanelEvent) => asked.current === own && dispatch(e);
	try {
		const { offers, failures } = await channel.call("swap.quote", { ...query, watch: true }, onID);
		const [failure] = Object.values(failures ?? {});
		tell(answerOf(query, failure ? { offers, failure, done: true } : { offers, done: true }));
	} catch (thrown) {
		tell({ event: "failed", query, failure: failureOf(thrown) });
	}
}

/** answerOf ignores a failure if there are offers too. */
function answerOf(query: Query, { offers, failure, done }: Pick<Quoted, "offers" | "failure" | "done">): PanelEvent {
	if (failure && done && offers.length === 0) return { event: "failed", query, failure: new Failure(failure) };
	return { event: "offered", query, offers, done, now: Date.now() };
}

/** useRenewal replaces the reviewed plan when its quote is about to expire (some live ten
 * seconds). The new plan has to be reviewed, and its button is disabled for a moment. If
 * the renewal fails, the button asks for a new quote. */
function useRenewal(channel: Channel, { stage, quotes: { query } }: PanelState, dispatch: Dispatch): void {
	const review = stage.at === "review" ? stage.review : undefined;
	const often = stage.at === "review" ? (stage.renewed ?? 0) : 0;
	useEffect(() => {
		if (!review || !query || often >= maxRenewals) return;
		let left = false;
		const renew = () => {
			if (document.visibilityState !== "visible") {
				document.addEventListener("visibilitychange", renew, { once: true }); // nobody is looking; renew when the window is visible again
				return;
			}
			prepareRenewal(channel, query, review).then((fresh) => left || !fresh || dispatch({ event: "renewed", of: review.digest, review: fresh })).catch(() => {});
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

/** prepareRenewal prepares a plan from a fresh quote with the same routing; undefined if there is
 * none, as another routing has to be chosen in the form. */
export async function prepareRenewal(channel: Channel, query: Query, { offer }: Review): Promise<Review | undefined> {
	const { offers } = await channel.call("swap.quote", { ...query });
	const again = offers.find((o) => o.routing === offer.routing && usable(o, Date.now()));
	return again && channel.call("swap.prepare", { offer: again.id });
}

/** planAbandoned reports whether the plan in preparation or review is no longer wanted: the form
 * asks for something else, the slippage changed, or account or network did. */
export function planAbandoned({ stage, quotes }: PanelState, query: Query | undefined, { account, chainId }: Owner): boolean {
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

/** useStage runs the request of the present stage: prepare or execute. */
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
