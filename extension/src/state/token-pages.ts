import { useEffect, useRef, useState } from "preact/hooks";
import type { SearchResult, Token } from "../wire/protocol";
import { type Failure, failureOf } from "../wire/failure";

/** TokenPages are the pages of a token list that were loaded so far. While a new list
 * loads, the old one stays visible. */
export interface TokenPages {
	/** Which list this is; undefined: none. */
	key: string | undefined;
	at: "loading" | "shown" | "failed";
	tokens: readonly Token[];
	/** Of the next page; undefined at the end. */
	cursor: string | undefined;
	/** The query, if it is the address of an unknown token. */
	importable: string | undefined;
	failure: Failure | undefined;
}

export const noPages: TokenPages = { key: undefined, at: "shown", tokens: [], cursor: undefined, importable: undefined, failure: undefined };

/** withPage adds a page to its list. A late page of another list changes nothing. */
export function withPage(before: TokenPages, key: string, cursor: string | undefined, page: SearchResult): TokenPages {
	if (before.key !== key) return before;
	const tokens = cursor === undefined ? page.tokens : [...before.tokens, ...page.tokens];
	return { key, at: "shown", tokens, cursor: page.cursor, importable: page.importable, failure: undefined };
}

type Ask = (cursor: string | undefined) => Promise<SearchResult>;

/** useTokenPages loads the list named by `key` page by page; undefined loads none. `more`
 * loads the next page, or repeats a failed request. */
export function useTokenPages(key: string | undefined, ask: Ask): TokenPages & { more: () => void } {
	const [pages, set] = useState<TokenPages>(noPages);
	const latest = useRef(ask);
	latest.current = ask;
	const read = (of: string, cursor: string | undefined) => {
		set((before) => ({ ...before, key: of, at: "loading", importable: undefined, failure: undefined }));
		latest
			.current(cursor)
			.then((page) => set((before) => withPage(before, of, cursor, page)))
			.catch((thrown) => set((before) => (before.key === of ? { ...before, at: "failed", failure: failureOf(thrown) } : before)));
	};
	useEffect(() => {
		if (key === undefined) set(noPages);
		else read(key, undefined);
	}, [key]);
	const more = () => {
		if (key !== undefined && pages.key === key && pages.at !== "loading") read(key, pages.at === "failed" && pages.tokens.length === 0 ? undefined : pages.cursor);
	};
	return { ...pages, ...(pages.key === key ? {} : { at: "loading" }), more };
}
