import type { Balance, Price, Token } from "../wire/protocol";
import { compareWorth, worth } from "../money/worth";
import { NATIVE } from "../state/wallet";

/** A TokenRow is a token as it is offered for choice. */
export interface TokenRow {
	token: Token;
	/** Base units that the account has of it. */
	amount?: string;
	/** What they are worth, US dollars; absent: no current price. */
	usd?: string;
	/** Only the provider's list for display names it; the daemon has not seen it. */
	told?: boolean;
}

/** What there is to choose from. */
export interface Choice {
	chainId: number;
	query: string;
	/** The network's own coin, where it is known. */
	coin: Token | undefined;
	/** The daemon's, in its order. */
	listed: readonly Token[];
	/** Of the provider's list for display. */
	extra: readonly Token[];
	/** Of the active network; of another one they are passed over. */
	balances: readonly Balance[];
	prices: ReadonlyMap<string, Price>;
}

/** Fewer characters are no part of an address that somebody means: any two are in most
 * of them. */
const addressPart = 5;

/** matches tells whether a token is meant by part of its symbol, name or address. */
export function matches(token: Token, query: string): boolean {
	const wanted = query.trim().replace(/\s+/g, " ").toLowerCase();
	if (token.symbol.toLowerCase().includes(wanted) || token.name.toLowerCase().includes(wanted)) return true;
	return wanted.length >= addressPart && token.address.toLowerCase().includes(wanted);
}

/** tokenRows are the tokens to choose from, each once: first the network's coin and
 * what the account has, by worth, then the others in the order they were listed. */
export function tokenRows(choice: Choice): { held: TokenRow[]; others: TokenRow[] } {
	const { query, chainId, coin, listed, extra } = choice;
	const held = heldRows(choice);
	if (coin && matches(coin, query) && !held.some((r) => r.token.address === NATIVE)) held.unshift({ token: coin });
	const seen = new Set(held.map((r) => r.token.address.toLowerCase()));
	const others: TokenRow[] = [];
	const add = (token: Token, row: TokenRow) => {
		const address = token.address.toLowerCase();
		if (token.chainId !== chainId || seen.has(address) || !matches(token, query)) return;
		seen.add(address);
		others.push(row);
	};
	for (const token of listed) add(token, { token });
	for (const token of extra) add(token, { token, told: true });
	return { held, others };
}

function heldRows({ chainId, query, balances, prices }: Choice): TokenRow[] {
	const rows: TokenRow[] = [];
	for (const { amount, known } of balances) {
		if (!known || known.chainId !== chainId || !matches(known, query)) continue;
		if (known.address !== NATIVE && (amount ?? "0") === "0") continue;
		const price = prices.get(known.address.toLowerCase());
		const usd = amount !== undefined && price?.now && !price.stale ? { usd: worth(amount, known.decimals, price.now) } : {};
		rows.push({ token: known, ...(amount === undefined ? {} : { amount }), ...usd });
	}
	const first = (r: TokenRow) => (r.token.address === NATIVE ? 0 : 1);
	return rows.sort((a, b) => first(a) - first(b) || compareWorth(a.usd, b.usd));
}

/** unread counts the tokens of which there may be some: their contracts give no balance. */
export function unread(balances: readonly Balance[]): number {
	return balances.filter((b) => b.amount === undefined).length;
}

/** Why a token is not taken without a question: it may be another one than it says. */
export type Doubt = "imitates" | "unverified";

/** doubtOf a token: none of verified ones, of a coin, and of what this user imported. */
export function doubtOf(token: Token): Doubt | undefined {
	if (token.imitates) return "imitates";
	return token.verified || token.imported || token.address === NATIVE ? undefined : "unverified";
}
