const row = "[data-row]";
const search = "input[type=search]";

/** rowAfterKey returns the row that a key leads to from row `at` of `count`; -1 is the search
 * field above them, undefined leaves the focus alone. */
export function rowAfterKey(key: string, at: number, count: number): number | undefined {
	if (count === 0) return undefined;
	switch (key) {
		case "ArrowDown":
			return Math.min(at + 1, count - 1);
		case "ArrowUp":
			return Math.max(at - 1, -1);
		case "Home":
			return at < 0 ? undefined : 0;
		case "End":
			return at < 0 ? undefined : count - 1;
		default:
			return undefined;
	}
}

/** onArrows moves the focus between a search field and the rows below it, which are buttons
 * with data-row. Enter and Space are left to the buttons. */
export function onArrows(e: KeyboardEvent & { currentTarget: HTMLElement }): void {
	const rows = [...e.currentTarget.querySelectorAll<HTMLElement>(row)];
	const to = rowAfterKey(e.key, rows.indexOf(document.activeElement as HTMLElement), rows.length);
	if (to === undefined) return;
	e.preventDefault();
	(to < 0 ? e.currentTarget.querySelector<HTMLElement>(search) : rows[to])?.focus();
}

/** focusSearch focuses the search field of a dialog. */
export function focusSearch(within: HTMLElement | null): void {
	within?.querySelector<HTMLElement>(search)?.focus();
}
