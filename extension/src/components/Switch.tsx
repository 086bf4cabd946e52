import type { ComponentChildren } from "preact";

interface Props {
	/** Accessible name, if the visible text is only part of it. */
	label?: string;
	/** The visible text. */
	children: ComponentChildren;
	on: boolean;
	/** The last change is still in progress. */
	busy?: boolean;
	onTurn: (on: boolean) => void;
}

/** Switch is a checkbox that takes effect immediately. */
export function Switch({ label, children, on, busy = false, onTurn }: Props) {
	return (
		<label class="choice">
			<span>{children}</span>
			<input type="checkbox" role="switch" aria-label={label} aria-busy={busy} checked={on} onChange={(e) => onTurn(e.currentTarget.checked)} />
		</label>
	);
}
