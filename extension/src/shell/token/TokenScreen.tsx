import { announce } from "../../components/Announcer";
import { Avatar } from "../../components/Avatar";
import { Button } from "../../components/Button";
import { formatChange, PriceChart } from "../../components/PriceChart";
import { Refusal } from "../../components/Refusal";
import { Screen } from "../../components/Screen";
import { numbers } from "../../i18n/formats";
import { optionalMessage, locale, t } from "../../i18n/t";
import { formatTime } from "../../i18n/time";
import { formatUSD } from "../../money/amount";
import { fullAmount } from "../../money/token-amount";
import { useAct } from "../../order/useAct";
import { useAnswer } from "../../state/answer";
import { useConnection, useNetworkData } from "../../state/context";
import { useStore } from "../../state/store";
import { useTokens } from "../../state/tokens";
import { NATIVE } from "../../state/network-data";
import type { Price, Token } from "../../wire/protocol";
import { preselected } from "../preselected";
import { back, go, type Route } from "../route";

/** TokenScreen shows a token of the active network: what it is, its price and the balance. */
export default function TokenScreen({ route }: { route: Extract<Route, { at: "token" }> }) {
	const chainId = useStore(useNetworkData().active);
	const { token, pending } = useTokens([{ chainId, address: route.address }])(chainId, route.address);
	const price = usePrice(chainId, route.address);
	const held = useBalance(chainId, route.address);
	const swap = () => {
		preselected.set(token);
		go({ at: "swap" });
	};
	return (
		<Screen title={token?.symbol ?? t("about_screen")} onBack="back">
			{!token && !pending && <p class="note warn">{t("about_unknown", route.address)}</p>}
			{token && (
				<>
					<Head token={token} held={held} price={price} />
					<Trust token={token} />
					<div class="row token-acts">
						<Button kind="main" onClick={swap}>
							{t("about_swap")}
						</Button>
						<Button onClick={() => go({ at: "receive" })}>{t("nav_receive")}</Button>
					</div>
					<PriceChart chainId={chainId} token={token.address} symbol={token.symbol} stale={price?.stale ?? false} />
					<Facts token={token} price={price} />
					{token.imported && <Remove token={token} />}
				</>
			)}
		</Screen>
	);
}

/** useBalance returns the account's balance of the token, asking the daemon if it is not in
 * the list. */
function useBalance(chainId: number, address: string): string | undefined {
	const { shell, account: selected } = useConnection();
	const account = useStore(selected)?.address;
	const balances = useStore(useNetworkData().balances);
	const listed = balances?.find((b) => b.token.toLowerCase() === address.toLowerCase());
	const key = listed || !account || chainId === 0 ? undefined : `${account} ${chainId} ${address}`;
	const { answer } = useAnswer(key, () => shell.call("tokens.balances", { account: account ?? "", chainId, tokens: [address] }), balances);
	return (listed ?? answer?.balances[0])?.amount;
}

/** usePrice returns the token's price, asking the daemon if it is not in the list. */
function usePrice(chainId: number, address: string): Price | undefined {
	const { shell } = useConnection();
	const { prices: kept } = useNetworkData();
	const prices = useStore(kept);
	const listed = prices.get(address.toLowerCase());
	const { answer } = useAnswer(listed || chainId === 0 ? undefined : `${chainId} ${address}`, () => shell.call("prices.list", { chainId, tokens: [address] }), prices);
	return listed ?? answer?.prices[0];
}

function Head({ token, held, price }: { token: Token; held: string | undefined; price: Price | undefined }) {
	return (
		<div class="row token-head">
			<Avatar of={token.address} letter={token.symbol} mark={token.mark} size={40} />
			<div class="grow">
				<p class="cut">{token.name}</p>
				<p class="number">{held === undefined ? t("about_balance_unknown") : t("about_balance", fullAmount(held, token, locale()))}</p>
			</div>
			<div class="token-price">
				<strong class="number">{price?.now ? formatUSD(price.now, locale()) : t("price_unavailable_now")}</strong>
				{price?.now && !price.stale && price.changePercent !== undefined && <span class={`small ${price.changePercent < 0 ? "tone critical" : "tone good"}`}>{formatChange(price.changePercent)}</span>}
				{price?.stale && <span class="tone warn small">{t("price_old")}</span>}
			</div>
		</div>
	);
}

function Trust({ token }: { token: Token }) {
	if (token.imitates) {
		return (
			<div class="note critical" role="note">
				<strong>{t("about_imitates")}</strong>
				<p>
					{t("about_imitates_text")} <code>{token.imitates}</code>
				</p>
			</div>
		);
	}
	if (token.verified) return null;
	return (
		<div class="note warn" role="note">
			<strong>{t("about_unverified")}</strong>
			<p>{t("about_unverified_text")}</p>
		</div>
	);
}

function Facts({ token, price }: { token: Token; price: Price | undefined }) {
	const list = token.imported ? t("about_imported") : token.list;
	const rows: [string, string | undefined][] = [
		[t("about_list"), list],
		[t("about_decimals"), String(token.decimals)],
		[t("about_cap"), price?.marketCap && t(price.marketCapDiluted ? "about_cap_diluted" : "about_cap_is", whole(price.marketCap))],
		[t("about_holders"), price?.holders === undefined ? undefined : numbers(locale()).format(price.holders)],
		[t("about_source"), price?.source && price.updated ? t("about_source_is", optionalMessage(`source_${price.source}`) ?? price.source, formatTime(price.updated, "whole")) : price?.source],
	];
	return (
		<dl class="card facts small">
			<dt>{t("about_trust")}</dt>
			<dd>{t(token.verified ? "about_verified" : "about_not_verified")}</dd>
			{token.address !== NATIVE && (
				<>
					<dt>{t("about_address")}</dt>
					<dd>
						<code>{token.address}</code>
					</dd>
				</>
			)}
			{rows.map(([name, value]) => value !== undefined && value !== "" && <Fact key={name} name={name} value={value} />)}
		</dl>
	);
}

/** Cents are irrelevant in sums this large. */
const whole = (usd: string) => numbers(locale(), { style: "currency", currency: "USD", maximumFractionDigits: 0 }).format(Number(usd));

function Fact({ name, value }: { name: string; value: string }) {
	return (
		<>
			<dt>{name}</dt>
			<dd>{value}</dd>
		</>
	);
}

function Remove({ token }: { token: Token }) {
	const { shell } = useConnection();
	const remove = useAct(async () => {
		await shell.call("tokens.remove", { chainId: token.chainId, address: token.address });
		announce(t("about_removed", token.symbol));
		back();
	});
	return (
		<>
			{remove.failure && <Refusal failure={remove.failure} />}
			<Button busy={remove.busy} onClick={() => void remove.run()}>
				{t("about_remove")}
			</Button>
			<p class="soft small">{t("about_remove_text")}</p>
		</>
	);
}
