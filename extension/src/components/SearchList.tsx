import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { focusSearch, onArrows } from "./arrows";
import { Field } from "./Field";

interface Props {
	/** Of the search field. */
	label: string;
	query: string;
	onQuery: (query: string) => void;
	/** How many were found, in words; said, and not shown. */
	status: string;
	busy?: boolean;
	/** Rows are buttons marked data-row. */
	children: ComponentChildren;
}

/** SearchList is a search field over rows to choose from, in a dialog: the field has
 * the focus, arrow keys lead into the rows and back. What it says by itself it says
 * here, since all that is outside of an open dialog is silent. */
export function SearchList({ label, query, onQuery, status, busy = false, children }: Props) {
	const box = useRef<HTMLDivElement>(null);
	// After the dialog gave the focus to its heading.
	useEffect(() => queueMicrotask(() => focusSearch(box.current)), []);
	return (
		<div class="picker" ref={box} onKeyDown={onArrows}>
			<Field label={label} type="search" value={query} onInput={onQuery} />
			<div class="picker-list" aria-busy={busy}>
				{children}
			</div>
			<p class="hidden" role="status">
				{status}
			</p>
		</div>
	);
}
