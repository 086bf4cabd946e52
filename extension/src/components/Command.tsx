import { CopyButton } from "./CopyButton";

interface Props {
	/** A line for a terminal. */
	text: string;
	/** Name of the copy button. */
	label: string;
}

/** Command shows a command to paste into a terminal, verbatim. Lines break between words
 * only, since a break inside an option's "--" would be misread. */
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
