import { CopyButton } from "./CopyButton";

interface Props {
	/** A line for a terminal. */
	text: string;
	/** Name of the button that copies it. */
	label: string;
}

/** Command is what a person carries into a terminal, exactly as it stands. No line ends
 * inside a word of it, as in an option's two dashes. */
export function Command({ text, label }: Props) {
	return (
		<div class="command">
			<pre>
				<code>{text.split(" ").flatMap((word, i) => [i > 0 && " ", <span class="word">{word}</span>])}</code>
			</pre>
			<CopyButton text={text} label={label} />
		</div>
	);
}
