import type { ComponentChildren } from "preact";
import { Loading } from "./Loading";

interface Props {
	children: ComponentChildren;
	onClick?: () => void;
	kind?: "main" | "plain" | "icon" | "critical" | "main critical";
	/** The button does nothing but keeps the keyboard focus; its text says what is missing. */
	disabled?: boolean;
	busy?: boolean;
	/** Accessible name, for a button that shows only an icon. */
	label?: string;
	submit?: boolean;
}

/** Keys that press a button. Holding one down presses once, so that it does not also press
 * the button that appears in its place. */
const held = new Set(["Enter", " "]);

/** Button stays focusable while disabled or busy, so that its text can be read. */
export function Button({ children, onClick, kind, disabled = false, busy = false, label, submit = false }: Props) {
	const off = disabled || busy;
	return (
		<button
			type={submit ? "submit" : "button"}
			class={`button ${kind ?? ""}`}
			aria-disabled={off}
			aria-label={label}
			aria-busy={busy}
			title={label}
			onKeyDown={(e) => e.repeat && held.has(e.key) && e.preventDefault()}
			onClick={(e) => {
				if (off) e.preventDefault();
				else onClick?.();
			}}
		>
			{busy && <Loading />}
			{children}
		</button>
	);
}
