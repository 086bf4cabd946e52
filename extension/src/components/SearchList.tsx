import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { focusSearch, onArrows } from "./arrows";
import { Field } from "./Field";

interface Props {
	/** Label of the search field. */
	label: string;
	query: string;
	onQuery: (query: string) => void;
	/** How many were found; for screen readers only. */
	status: string;
	busy?: boolean;
	/** Rows must be buttons with data-row. */
	children: ComponentChildren;
}

/** SearchList is a search field over a list of rows, in a dialog. The field has the focus;
 * arrow keys move between field and rows. It has its own live region because everything
 * outside an open dialog is inert. */
export function SearchList({ label, query, onQuery, status, busy = false, children }: Props) {
	const box = useRef<HTMLDivElement>(null);
	// After the dialog has focused its heading.
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
