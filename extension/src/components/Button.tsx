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
