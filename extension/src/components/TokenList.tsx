import { useEffect, useRef, useState } from "preact/hooks";
import type { Token } from "../wire/protocol";
import type { Failure } from "../wire/failure";
import { t } from "../i18n/t";
import { useConnection, useNetworkData } from "../state/context";
import { useStore } from "../state/store";
import { coinOf } from "../state/tokens";
import { type TokenPages, useTokenPages } from "../state/token-pages";
import { shortAddress } from "./address";
import { Button } from "./Button";
import { Loading } from "./Loading";
import { Refusal } from "./Refusal";
import { SearchList } from "./SearchList";
import { type TokenRow, tokenRows } from "./token-rows";
import { TokenRowButton } from "./TokenRowButton";

interface Props {
	chainId: number;
	source: "known" | "bridge" | "intent";
	/** The network is one of the wallet's own. */
	known: boolean;
	selected: Token | undefined;
	extra: readonly Token[];
	query: string;
	onQuery: (query: string) => void;
	onPick: (row: TokenRow) => void;
	onImport: (address: string) => void;
}

/** Page sizes: of the list that is shown, and of a provider's list, which is searched here. */
const page = { shown: 50, searched: 200 };

/** Longer queries are cut off. */
const maxQuery = 100;

/** Debounce of the search, in ms. */
const searchDebounce = 180;

/** TokenList is a search field and the tokens found. */
export function TokenList(props: Props) {
	const { chainId, source, known, selected, extra, query, onQuery, onPick, onImport } = props;
	const wanted = query.trim().slice(0, maxQuery);
	const settled = useDebounced(wanted);
	const traded = useProviderTokens(source, chainId);
	const searched = useKnownTokens(chainId, settled, known && (source === "known" || settled !== ""));
	const rows = useRows({ chainId, query: wanted, listed: [...traded.tokens, ...searched.tokens], extra });
	const count = rows.held.length + rows.others.length;
	useEffect(() => {
		// The provider's list is searched here, so all its pages have to be loaded.
		if (wanted !== "" && count < page.shown && traded.cursor && traded.at === "shown") traded.more();
	}, [wanted, count, traded.cursor, traded.at]);
	const busy = traded.at === "loading" || searched.at === "loading" || settled !== wanted;
	const failed = [traded, searched].find((p) => p.at === "failed");
	const next = [traded, searched].find((p) => p.cursor !== undefined && p.at === "shown");
	return (
		<SearchList label={t("picker_search")} query={query} onQuery={onQuery} busy={busy} status={query && !busy ? t("picker_found", count) : ""}>
			<Rows title={t("picker_held")} rows={rows.held} selected={selected} onPick={onPick} />
			<Rows title={t(rows.held.length > 0 ? "picker_others" : "picker_all")} rows={rows.others} selected={selected} onPick={onPick} />
			{searched.importable && !busy && <Import address={searched.importable} onImport={onImport} />}
			<Foot busy={busy} failed={failed} next={next} empty={count > 0 || searched.importable ? undefined : emptyText(wanted, known)} />
		</SearchList>
	);
}

/** useProviderTokens loads what a provider says it trades; nothing for the known tokens. */
function useProviderTokens(source: Props["source"], chainId: number) {
	const { shell } = useConnection();
	return useTokenPages(source === "known" ? undefined : `${source}:${chainId}`, (cursor) =>
		shell.call("tokens.list", { chainId, ...(source === "known" ? {} : { provider: source }), limit: page.searched, ...(cursor ? { cursor } : {}) }),
	);
}

/** useKnownTokens loads the tokens that the daemon knows, or with a query those that match. */
function useKnownTokens(chainId: number, query: string, wanted: boolean) {
	const { shell } = useConnection();
	return useTokenPages(wanted ? `${chainId}:${query}` : undefined, (cursor) => {
		const params = { chainId, limit: page.shown, ...(cursor ? { cursor } : {}) };
		return query === "" ? shell.call("tokens.list", params) : shell.call("tokens.search", { ...params, query });
	});
}

function useRows({ chainId, ...choice }: { chainId: number; query: string; listed: readonly Token[]; extra: readonly Token[] }) {
	const network = useNetworkData();
	const balances = useStore(network.balances);
	const prices = useStore(network.prices);
	const active = useStore(network.active);
	const own = useStore(network.networks).find((n) => n.chainId === chainId);
	const coin: Token | undefined = own && coinOf(own);
	return tokenRows({ ...choice, chainId, coin, balances: active === chainId ? (balances ?? []) : [], prices });
}

/** useDebounced returns a value once it has stopped changing (debounce). */
function useDebounced(value: string): string {
	const [settled, set] = useState(value);
	useEffect(() => {
		const wait = setTimeout(() => set(value), searchDebounce);
		return () => clearTimeout(wait);
	}, [value]);
	return settled;
}

function Rows({ title, rows, selected, onPick }: { title: string; rows: readonly TokenRow[]; selected: Token | undefined; onPick: (row: TokenRow) => void }) {
	if (rows.length === 0) return null;
	return (
		<section aria-label={title}>
			<h3 class="picker-title">{title}</h3>
			<ul>
				{rows.map((r) => (
					<li key={r.token.address}>
						<TokenRowButton row={r} selected={selected?.address === r.token.address && selected.chainId === r.token.chainId} onPick={onPick} />
					</li>
				))}
			</ul>
		</section>
	);
}

function Import({ address, onImport }: { address: string; onImport: (address: string) => void }) {
	return (
		<div class="picker-empty stack tight">
			<p class="soft">{t("picker_unknown_address")}</p>
			<button type="button" data-row class="button" onClick={() => onImport(address)}>
				{t("picker_look", shortAddress(address))}
			</button>
		</div>
	);
}

interface FootProps {
	busy: boolean;
	failed: { failure: Failure | undefined; more: () => void } | undefined;
	next: (TokenPages & { more: () => void }) | undefined;
	/** Text for an empty list. */
	empty: string | undefined;
}

/** emptyText returns the text for an empty list. Contracts can only be read on the wallet's
 * own networks, so elsewhere it does not suggest an import. */
function emptyText(query: string, known: boolean): string {
	if (query === "") return t("picker_none");
	return t(known ? "picker_not_found" : "picker_not_traded", query);
}

/** Foot stands below the rows: an error, the next page, or the text for an empty list. */
function Foot({ busy, failed, next, empty }: FootProps) {
	if (busy) {
		return (
			<p class="picker-empty soft">
				<Loading /> {t("picker_loading")}
			</p>
		);
	}
	if (failed?.failure) {
		return (
			<div class="picker-empty stack tight">
				<Refusal failure={failed.failure} />
				<Button onClick={failed.more}>{t("picker_retry")}</Button>
			</div>
		);
	}
	if (next) return <More key={next.cursor} onMore={next.more} />;
	return empty ? <p class="picker-empty soft">{empty}</p> : null;
}

/** More loads the next page when it is scrolled into view or pressed. */
function More({ onMore }: { onMore: () => void }) {
	const end = useRef<HTMLDivElement>(null);
	const latest = useRef(onMore);
	latest.current = onMore;
	useEffect(() => {
		const seen = new IntersectionObserver((entries) => entries.some((e) => e.isIntersecting) && latest.current());
		seen.observe(end.current!);
		return () => seen.disconnect();
	}, []);
	return (
		<div class="picker-empty" ref={end}>
			<Button kind="plain" onClick={onMore}>
				{t("picker_more")}
			</Button>
		</div>
	);
}
