import { useEffect, useState } from "preact/hooks";
import type { Destination, Token } from "../../wire/protocol";
import { isObject } from "../../wire/object";
import { NATIVE } from "../../state/network-data";

/** TokenListing is the intent provider's list; if it is empty because of an error, `reason`
 * says why. */
export interface TokenListing {
	tokens: readonly Token[];
	reason?: string;
}

/** Time limit of the request (ms); size limit of the reply (bytes); number of tokens requested;
 * maximum length of a name (characters); maximum decimals; time an answer is cached (ms). */
const fetchTimeout = 8000;
const maxBody = 2 * 1024 * 1024;
const maxTokens = 2000;
const maxText = 64;
const maxDecimals = 36;
const cacheTime = 10 * 60_000;

/** Another address used for the native coin. */
const nativeAlias = "0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee";

/** fetchTokens asks the intent provider for the tokens of networks, without credentials.
 * The result is for display only: address, symbol and decimals count once the daemon has
 * read them. It never rejects. */
export async function fetchTokens(chainIds: readonly number[], fetcher: typeof fetch = fetch, base = __TOKENS_URL__): Promise<TokenListing> {
	try {
		const signal = AbortSignal.timeout(fetchTimeout);
		const url = `${base}/v1/tokens?chainIds=${chainIds.join(",")}&limit=${maxTokens}`;
		const reply = await fetcher(url, { signal, credentials: "omit", referrerPolicy: "no-referrer", redirect: "error", headers: { accept: "application/json" } });
		if (!reply.ok) return { tokens: [], reason: `HTTP ${reply.status}` };
		return { tokens: readTokens(JSON.parse(await readBounded(reply)), chainIds) };
	} catch (thrown) {
		return { tokens: [], reason: thrown instanceof Error ? thrown.message : String(thrown) };
	}
}

/** readBounded reads a body as text, and throws if it exceeds maxBody. */
async function readBounded(reply: Response): Promise<string> {
	const reader = reply.body?.getReader();
	if (!reader) throw new Error("no body");
	const text = new TextDecoder("utf-8", { fatal: true });
	let all = "";
	let bytes = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) return all + text.decode();
		bytes += value.byteLength;
		if (bytes > maxBody) {
			void reader.cancel();
			throw new Error(`a body of more than ${maxBody} bytes`);
		}
		all += text.decode(value, { stream: true });
	}
}

/** readTokens accepts both formats of the API: an envelope and a plain array. It skips
 * entries that are not EVM tokens of the requested networks, and those the provider marks
 * as risky. It throws for any other format. */
export function readTokens(body: unknown, chainIds: readonly number[]): Token[] {
	const entries = Array.isArray(body) ? body : field(body, "data");
	if (!Array.isArray(entries)) throw new Error("no list of tokens");
	const tokens = new Map<string, Token>();
	for (const entry of entries) {
		const token = readToken(entry, chainIds);
		const key = token && `${token.chainId}:${token.address.toLowerCase()}`;
		if (key && !tokens.has(key) && tokens.size < maxTokens) tokens.set(key, token);
	}
	return [...tokens.values()];
}

function readToken(entry: unknown, chainIds: readonly number[]): Token | undefined {
	const [chainId, address, decimals] = [field(entry, "chainId"), field(entry, "address"), field(entry, "decimals")];
	if (typeof chainId !== "number" || !chainIds.includes(chainId)) return undefined;
	if (typeof address !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(address)) return undefined;
	if (typeof decimals !== "number" || !Number.isInteger(decimals) || decimals < 0 || decimals > maxDecimals) return undefined;
	if (field(field(entry, "extensions"), "isRiskToken") === true) return undefined;
	const [symbol, name] = [cleanText(field(entry, "symbol")), cleanText(field(entry, "name"))];
	if (!symbol) return undefined;
	return { chainId, address: address.toLowerCase() === nativeAlias ? NATIVE : address, symbol, name: name || symbol, decimals, verified: false };
}

function field(of: unknown, name: string): unknown {
	return isObject(of) && Object.hasOwn(of, name) ? (of as Record<string, unknown>)[name] : undefined;
}

// U+FEFF has no width, so it is not treated as a space although \s matches it.
const spaces = /[^\S\ufeff]+/gu;

// Invisible characters, characters that change the text direction, and stacked marks.
const invisible = /[\p{C}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\p{Me}\u2800]/gu;
const stackedMarks = /(\p{M}{2})\p{M}+/gu;

/** cleanText makes an untrusted name fit on one line; "" if nothing visible remains. */
export function cleanText(raw: unknown): string {
	if (typeof raw !== "string") return "";
	const line = raw.slice(0, 4096).replace(spaces, " ").replace(invisible, "").replace(/ {2,}/g, " ").replace(stackedMarks, "$1").replace(/^[\s\p{M}]+/u, "").trim();
	const letters = [...line];
	return letters.length <= maxText ? line : `${letters.slice(0, maxText - 1).join("").trimEnd()}…`;
}

let kept: { key: string; at: number; listing: TokenListing } | undefined;

/** useIntentTokens returns the provider's tokens on the networks it pays out on; empty
 * until loaded, and after an error. */
export function useIntentTokens(destinations: readonly Destination[] | undefined): readonly Token[] {
	const key = destinations?.map((d) => d.chainId).join(",") ?? "";
	const [tokens, show] = useState<readonly Token[]>(none);
	useEffect(() => {
		if (!destinations || key === "") return;
		if (kept?.key === key && Date.now() - kept.at < cacheTime) return show(kept.listing.tokens);
		let gone = false;
		void fetchTokens(destinations.map((d) => d.chainId)).then((listing) => {
			if (!listing.reason) kept = { key, at: Date.now(), listing };
			if (!gone) show(listing.tokens);
		});
		return () => void (gone = true);
	}, [key]);
	return tokens;
}

const none: readonly Token[] = [];
