import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Props {
	label: string;
	value: string;
	/** Value and text, in order. */
	options: readonly (readonly [value: string, words: string])[];
	onChange: (value: string) => void;
	hint?: ComponentChildren;
	disabled?: boolean;
}

/** Select is a labelled drop-down. */
export function Select({ label, value, options, onChange, hint, disabled = false }: Props) {
	const id = useId();
	return (
		<div class="field">
			<label for={id}>{label}</label>
			<select
				id={id} class="input" value={value} disabled={disabled} aria-describedby={hint ? `${id}-note` : undefined}
				onChange={(e) => onChange(e.currentTarget.value)}
			>
				{options.map(([v, words]) => (
					<option key={v} value={v} selected={v === value}>
						{words}
					</option>
				))}
			</select>
			{hint && (
				<div id={`${id}-note`} class="soft small">
					{hint}
				</div>
			)}
		</div>
	);
}
