import { useEffect, useRef, useState } from "preact/hooks";
import type { SearchResult, Token } from "../wire/protocol";
import { type Failure, failureOf } from "../wire/failure";

/** TokenPages are the pages of one list of tokens that were read so far. While a new
 * list is awaited the one before stays, so that nothing jumps. */
export interface TokenPages {
	/** Of what list they are; undefined: of none. */
	key: string | undefined;
	at: "loading" | "shown" | "failed";
	tokens: readonly Token[];
	/** Of the next page; undefined at the end. */
	cursor: string | undefined;
	/** The query is an address that is not known here. */
	importable: string | undefined;
	failure: Failure | undefined;
}

export const noPages: TokenPages = { key: undefined, at: "shown", tokens: [], cursor: undefined, importable: undefined, failure: undefined };

/** withPage adds a page to the list that it is of. One of another list comes too late,
 * and changes nothing. */
export function withPage(before: TokenPages, key: string, cursor: string | undefined, page: SearchResult): TokenPages {
	if (before.key !== key) return before;
	const tokens = cursor === undefined ? page.tokens : [...before.tokens, ...page.tokens];
	return { key, at: "shown", tokens, cursor: page.cursor, importable: page.importable, failure: undefined };
}

type Ask = (cursor: string | undefined) => Promise<SearchResult>;

/** useTokenPages reads a list page by page. `key` says which list it is; undefined
 * reads none. `more` reads the next page, or the same again after a failure. */
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
