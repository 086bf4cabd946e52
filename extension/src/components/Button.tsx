import type { ComponentChildren } from "preact";
import { Loading } from "./Loading";

interface Props {
	children: ComponentChildren;
	onClick?: () => void;
	kind?: "main" | "plain" | "icon" | "critical" | "main critical";
	/** Why it does not act yet is its text; it stays reachable by keyboard. */
	disabled?: boolean;
	busy?: boolean;
	/** The name, where the content is only a picture. */
	label?: string;
	submit?: boolean;
}

/** Keys that press a button: one that is held presses it once, and not what comes in its
 * place as well. */
const held = new Set(["Enter", " "]);

/** Button keeps its place in the keyboard's order while it is disabled: its words
 * say what is missing. */
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
