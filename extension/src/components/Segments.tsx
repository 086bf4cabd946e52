interface Props<V extends string> {
	label: string;
	/** Name of the radio inputs, unique on the screen. */
	name: string;
	value: V;
	options: readonly { value: V; text: string; hint?: string }[];
	onChange: (value: V) => void;
	/** Fill the available width. */
	wide?: boolean;
}

/** Segments is a row of radio buttons that look like one control. */
export function Segments<V extends string>({ label, name, value, options, onChange, wide = false }: Props<V>) {
	return (
		<fieldset class={`segments ${wide ? "wide" : ""}`} role="radiogroup" aria-label={label}>
			{options.map((o) => (
				<label key={o.value} title={o.hint}>
					<input type="radio" name={name} value={o.value} checked={o.value === value} onChange={() => onChange(o.value)} />
					<span>{o.text}</span>
				</label>
			))}
		</fieldset>
	);
}
