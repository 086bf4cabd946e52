import { CopyButton } from "./CopyButton";

interface Props {
	/** One or more lines for a terminal or a file. */
	text: string;
	/** Name of the button that copies it. */
	label: string;
}

/** Command is what a person carries into a terminal or a file, exactly as it stands. */
export function Command({ text, label }: Props) {
	return (
		<div class="command">
			<pre>
				<code>{text}</code>
			</pre>
			<CopyButton text={text} label={label} />
		</div>
	);
}
