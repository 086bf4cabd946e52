interface Props<V extends string> {
	/** What is chosen here. */
	label: string;
	/** Of the inputs; one on a screen. */
	name: string;
	value: V;
	options: readonly { value: V; text: string; hint?: string }[];
	onChange: (value: V) => void;
	/** They share the width there is. */
	wide?: boolean;
}

/** Segments are a few choices beside each other, of which one holds. */
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
