import type { ComponentChildren } from "preact";
import { Mark } from "../components/Mark";
import { TxLink } from "../components/TxLink";
import { t } from "../i18n/t";
import { CauseView, SaidView } from "./CauseView";
import { lineText } from "./line";
import { useConnection } from "../state/context";
import { useStore } from "../state/store";
import type { Card } from "./condition-cards";

/** CardView shows what an order is waiting for, or how it ended; `lead` goes before the
 * text, `children` after it. */
export function CardView({ card, lead, children }: { card: Card; lead?: ComponentChildren; children?: ComponentChildren }) {
	const noted = card.noted?.();
	return (
		<section class={`card order-card ${card.tone}`} aria-label={lineText(card.title)}>
			<div class="row order-card-title">
				<Mark of={card.picture} tone={card.tone} />
				<h2 class="grow">{lineText(card.title)}</h2>
			</div>
			{lead}
			{card.text.map((text) => (
				<p key={text.key}>{lineText(text)}</p>
			))}
			{card.lines.length > 0 && (
				<dl class="lines">
					{card.lines.map((l) => (
						<div key={l.label}>
							<dt>{t(l.label)}</dt>
							<dd>{lineText(l.text)}</dd>
						</div>
					))}
				</dl>
			)}
			{noted && (
				<p>
					<CauseView cause={noted} />
				</p>
			)}
			{card.said && (
				<p>
					<SaidView said={card.said} />
				</p>
			)}
			{card.links.map((l) => (
				<p key={l.label + l.tx} class="small">
					<TxLink chainId={l.chainId} tx={l.tx}>
						{t(l.label)}
					</TxLink>
				</p>
			))}
			{card.asks === "unlock" && <Unlocking />}
			{children}
		</section>
	);
}

/** Without a session the app shows only the unlock screen, so here the wallet is unlocked
 * or about to be. */
function Unlocking() {
	const open = useStore(useConnection().keys)?.state === "unlocked";
	return <p class="note">{t(open ? "order_unlock_goes_on" : "order_unlock_how")}</p>;
}
