import { useEffect, useRef, useState } from "preact/hooks";
import { announce } from "../components/Announcer";
import { Button } from "../components/Button";
import { NetworkSelect } from "../components/NetworkSelect";
import { TokenAmount } from "../components/TokenAmount";
import { TokenPicker } from "../components/TokenPicker";
import { locale, t } from "../i18n/t";
import { displayAmount, inputAmount } from "../money/amount";
import { maxSpendable } from "../money/max-spendable";
import { valueUSD } from "../money/value";
import { refusalWords } from "../order/failure-words";
import { useNetworkData } from "../state/context";
import { useStore } from "../state/store";
import { NATIVE } from "../state/network-data";
import { condition, type Condition } from "./condition";
import { draft, type Draft } from "./draft";
import { amountOf, chosenOffer, factsOf, type Inputs, chosenOfferGone, missingGas, queryOf } from "./machine";
import { OfferCard } from "./OfferCard";
import { Offers } from "./Offers";
import { OrderNotes } from "./OrderNotes";
import type { FrameProps } from "./props";
import { Refused } from "./Refused";
import { Routes } from "./Routes";
import { swapSides } from "./useDraft";
import type { PanelFlow } from "./usePanel";
import { Icon } from "../components/Icon";

interface Props extends FrameProps {
	inputs: Inputs;
	flow: PanelFlow;
}

const change = (part: Partial<Draft>) => draft.update((d) => ({ ...d, ...part }));

/** FormView is the swap form with its offers. What is missing is said by the button only. */
export function FormView(props: Props) {
	const { machine, inputs, flow, onProvider } = props;
	const { state } = flow;
	const offer = chosenOffer(state, Date.now());
	const shown = condition(useFacts(props));
	useOfferNews(offer?.id, shown);
	return (
		<div class="stack">
			<h1 class="hidden">{t("nav_swap")}</h1>
			<OrderNotes />
			<Entries {...props} />
			{state.quotes.at === "failed" && state.quotes.failure && <Refused failure={state.quotes.failure} />}
			{state.failure && <Refused failure={state.failure} />}
			{offer && (
				<OfferCard offer={offer} inputs={inputs} quotes={state.quotes} provider={machine.kind} route={props.route ?? false}>
					{props.about?.(offer)}
				</OfferCard>
			)}
			{chosenOfferGone(state) && <p class="note">{t("choice_gone")}</p>}
			{machine.routes && <Routes offers={state.quotes.offers} chosen={offer?.id} token={inputs.draft.tokenOut} onChoose={flow.choose} />}
			<Offers query={queryOf(machine, inputs)} own={offer} failed={state.quotes.at === "failed"} kind={machine.kind} tokenOut={inputs.draft.tokenOut} onProvider={onProvider} />
			<ActButton condition={shown} onAct={(act) => (act === "review" ? offer && flow.review(offer.id) : flow.requote())} />
		</div>
	);
}

function useFacts({ machine, inputs, flow }: Props) {
	const { state } = flow;
	const now = Date.now();
	const missing = missingGas(inputs, chosenOffer(state, now));
	const { failure } = state.quotes;
	return factsOf(
		machine,
		inputs,
		state,
		{
			missingGas: missing && displayAmount(missing, inputs.coin.decimals, 6, locale()),
			failure: failure && { key: "button_failed", values: [firstSentence(refusalWords(failure).title)] },
		},
		now,
	);
}

/** The rest is in the note above the button. */
const firstSentence = (text: string) => text.replace(/\.( .*)?$/, "");

/** useOfferNews announces the first offer. Its replacements come every minute and are not
 * announced. */
function useOfferNews(offer: string | undefined, shown: Condition): void {
	const had = useRef(false);
	useEffect(() => {
		if (offer && !had.current) announce(t("offer_came"));
		had.current = offer !== undefined;
	}, [offer]);
	useEffect(() => {
		if (shown.key === "button_requote") announce(t("offer_expired"));
	}, [shown.key]);
}

function Entries(props: Props) {
	const { machine, inputs, flow, destinations, source, extra } = props;
	const [picking, pick] = useState<"in" | "out" | undefined>(undefined);
	const { tokenIn, tokenOut } = inputs.draft;
	const offer = chosenOffer(flow.state, Date.now());
	const most = useMaxAmount(props);
	const networks = destinations ?? [];
	return (
		<div class="stack tight">
			<TokenAmount
				label={t("pay_on", inputs.from.name)}
				token={tokenIn}
				amount={inputs.draft.amount}
				onAmount={(amount) => change({ amount })}
				onToken={() => pick("in")}
				balance={inputs.balance}
				usd={useTypedValue(inputs)}
				max={most}
				onMax={most && tokenIn ? () => change({ amount: inputAmount(most, tokenIn.decimals, locale()) }) : undefined}
			/>
			<div class="turn">
				<Button kind="icon" label={t("turn")} disabled={!tokenOut || tokenOut.chainId !== inputs.from.chainId} onClick={() => draft.update((d) => swapSides(d, inputs.from.chainId))}>
					<Icon name="turn" />
				</Button>
			</div>
			<TokenAmount
				label={t("receive_on", inputs.to.name)}
				token={tokenOut}
				amount={offer && tokenOut ? displayAmount(offer.amountOut, tokenOut.decimals, 6, locale()) : ""}
				onToken={() => pick("out")}
				usd={offer?.usd?.amountOut}
				dim={flow.state.quotes.at !== "shown"}
				busy={flow.state.quotes.at === "asking"}
				below={
					machine.crossChain && (
						<NetworkSelect label={t("destination")} value={inputs.to.chainId} networks={networks} onChange={(destination) => change({ destination, tokenOut: undefined })} />
					)
				}
			/>
			{picking === "in" && (
				<TokenPicker key={`in ${inputs.from.chainId}`} title={t("choose_pay")} chainId={inputs.from.chainId} source="known" selected={tokenIn} onPick={(token) => (pick(undefined), change({ tokenIn: token }))} onClose={() => pick(undefined)} />
			)}
			{picking === "out" && (
				<TokenPicker
					key={`out ${inputs.to.chainId}`}
					title={t("choose_receive")}
					chainId={inputs.to.chainId}
					source={source}
					selected={tokenOut}
					extra={extra ?? []}
					onPick={(token) => (pick(undefined), change({ tokenOut: token }))}
					onClose={() => pick(undefined)}
				/>
			)}
		</div>
	);
}

/** useTypedValue returns the value of the typed amount in US dollars, by the wallet's own
 * prices. */
function useTypedValue({ draft }: Inputs): string | undefined {
	const price = useStore(useNetworkData().prices, (prices) => draft.tokenIn && prices.get(draft.tokenIn.address.toLowerCase()));
	const amount = amountOf(draft);
	return draft.tokenIn && amount && price?.now && !price.stale ? valueUSD(amount, draft.tokenIn.decimals, price.now) : undefined;
}

/** useMaxAmount returns the most that can be paid: the balance, for the native coin less the
 * likely gas cost. */
function useMaxAmount({ machine, inputs }: Props): string | undefined {
	const gas = useStore(useNetworkData().gas);
	const { tokenIn } = inputs.draft;
	if (!tokenIn || inputs.balance === undefined) return undefined;
	return tokenIn.address === NATIVE ? maxSpendable(inputs.balance, gas, machine.kind) : inputs.balance;
}

function ActButton({ condition, onAct }: { condition: Condition; onAct: (act: "review" | "requote" | "resume") => void }) {
	const { act, key, values = [], level, busy = false } = condition;
	return (
		<div class="act">
			<Button kind={level === "critical" ? "main critical" : "main"} disabled={!act} busy={busy} onClick={() => act && onAct(act)}>
				{t(key, ...values)}
			</Button>
		</div>
	);
}
