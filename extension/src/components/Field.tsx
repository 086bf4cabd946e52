import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
	label: string;
	value: string;
	onInput: (value: string) => void;
	type?: "text" | "password" | "search";
	/** What is wrong with the value, announced; undefined if it is valid. */
	wrong?: string | undefined;
	hint?: ComponentChildren;
	rows?: number;
	autoFocus?: boolean;
	autoComplete?: string;
	inputMode?: "decimal" | "text" | "search";
	placeholder?: string;
}

/** Field is a labelled input with a line below it for an error or a hint. */
export function Field({ label, value, onInput, type = "text", wrong, hint, rows, autoFocus, autoComplete = "off", inputMode, placeholder }: Props) {
	const id = useId();
	const shared = {
		id, value, class: "input", placeholder, autoComplete, spellcheck: false,
		"aria-invalid": wrong !== undefined, "aria-describedby": `${id}-note`,
		ref: (e: HTMLElement | null) => void (autoFocus && e && document.activeElement === document.body && e.focus()),
	};
	return (
		<div class="field">
			<label for={id}>{label}</label>
			{rows ? (
				<textarea {...shared} rows={rows} onInput={(e) => onInput(e.currentTarget.value)} />
			) : (
				<input {...shared} type={type as "text"} inputMode={inputMode} onInput={(e) => onInput(e.currentTarget.value)} />
			)}
			<div id={`${id}-note`} class={wrong ? "wrong" : "soft small"} role={wrong ? "alert" : undefined}>
				{wrong ?? hint}
			</div>
		</div>
	);
}
