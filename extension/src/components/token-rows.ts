import type { Balance, Price, Token } from "../wire/protocol";
import { compareValue, valueUSD } from "../money/value";
import { NATIVE } from "../state/network-data";

/** A TokenRow is a token in a list to choose from. */
export interface TokenRow {
	token: Token;
	/** Balance of the account, in base units. */
	amount?: string;
	/** Its value in US dollars; absent: no current price. */
	usd?: string;
	/** Only the provider's display list has it; the daemon has not checked it. */
	displayOnly?: boolean;
}

/** The input of tokenRows. */
export interface Choice {
	chainId: number;
	query: string;
	/** The network's native coin, if known. */
	coin: Token | undefined;
	/** From the daemon, in its order. */
	listed: readonly Token[];
	/** From the provider's display list. */
	extra: readonly Token[];
	/** Of the active network; those of another network are ignored. */
	balances: readonly Balance[];
	prices: ReadonlyMap<string, Price>;
}

/** Shorter queries are not matched against addresses: any two characters are in most of them. */
const addressPart = 5;

/** matches reports whether a query is part of a token's symbol, name or address. */
export function matches(token: Token, query: string): boolean {
	const wanted = query.trim().replace(/\s+/g, " ").toLowerCase();
	if (token.symbol.toLowerCase().includes(wanted) || token.name.toLowerCase().includes(wanted)) return true;
	return wanted.length >= addressPart && token.address.toLowerCase().includes(wanted);
}

/** tokenRows returns the tokens to choose from, each once: first the native coin and what
 * the account holds, by value, then the others in the order listed. */
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
	for (const token of extra) add(token, { token, displayOnly: true });
	return { held, others };
}

function heldRows({ chainId, query, balances, prices }: Choice): TokenRow[] {
	const rows: TokenRow[] = [];
	for (const { amount, known } of balances) {
		if (!known || known.chainId !== chainId || !matches(known, query)) continue;
		if (known.address !== NATIVE && (amount ?? "0") === "0") continue;
		const price = prices.get(known.address.toLowerCase());
		const usd = amount !== undefined && price?.now && !price.stale ? { usd: valueUSD(amount, known.decimals, price.now) } : {};
		rows.push({ token: known, ...(amount === undefined ? {} : { amount }), ...usd });
	}
	const first = (r: TokenRow) => (r.token.address === NATIVE ? 0 : 1);
	return rows.sort((a, b) => first(a) - first(b) || compareValue(a.usd, b.usd));
}

/** countUnreadable counts the tokens whose contract returned no balance; the account may
 * hold some. */
export function countUnreadable(balances: readonly Balance[]): number {
	return balances.filter((b) => b.amount === undefined).length;
}

/** Why the user is asked before a token is selected: it may be a fake. */
export type Doubt = "imitates" | "unverified";

/** doubtOf returns undefined for verified tokens, native coins, and tokens that this user
 * imported. */
export function doubtOf(token: Token): Doubt | undefined {
	if (token.imitates) return "imitates";
	return token.verified || token.imported || token.address === NATIVE ? undefined : "unverified";
}
