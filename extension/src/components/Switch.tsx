import type { ComponentChildren } from "preact";

interface Props {
	/** The whole name, where the words beside it are short for it. */
	label?: string;
	/** What it turns on and off. */
	children: ComponentChildren;
	on: boolean;
	/** What was wanted last is under way. */
	busy?: boolean;
	onTurn: (on: boolean) => void;
}

/** Switch acts at once, when it is turned. */
export function Switch({ label, children, on, busy = false, onTurn }: Props) {
	return (
		<label class="choice">
			<span>{children}</span>
			<input type="checkbox" role="switch" aria-label={label} aria-busy={busy} checked={on} onChange={(e) => onTurn(e.currentTarget.checked)} />
		</label>
	);
}
