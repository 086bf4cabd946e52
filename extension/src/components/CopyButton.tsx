import { useEffect, useState } from "preact/hooks";
import { t } from "../i18n/t";
import { announce } from "./Announcer";
import { Button } from "./Button";

interface Props {
	text: string;
	/** The button's accessible name. It starts with "Copy" and says what, as a screen may
	 * have several. */
	label: string;
	kind?: "plain" | "main";
}

/** How long the button says that it has copied, in ms. */
const shownFor = 2_000;

/** CopyButton copies a text and confirms it, on the button and to screen readers. */
export function CopyButton({ text, label, kind = "plain" }: Props) {
	const [said, say] = useState<"copy" | "copied" | "copy_failed">("copy");
	useEffect(() => {
		if (said === "copy") return;
		const timer = setTimeout(() => say("copy"), shownFor);
		return () => clearTimeout(timer);
	}, [said]);
	async function copy() {
		const outcome = await navigator.clipboard.writeText(text).then(() => "copied" as const, () => "copy_failed" as const);
		say(outcome);
		announce(t(outcome));
	}
	return (
		<Button kind={kind} label={said === "copy" ? label : t(said)} onClick={() => void copy()}>
			{t(said)}
		</Button>
	);
}
