import { Loading } from "./Loading";

export type MarkKind = "busy" | "wait" | "done" | "back" | "failed" | "over" | "ask" | "unsure" | "none" | "skipped";

// In a 20 by 20 box. A text next to the mark always says what it means.
const paths: Record<Exclude<MarkKind, "busy">, string> = {
	wait: "M10 5.5V10l3 2",
	done: "M6 10.4l2.7 2.7L14.2 7.2",
	back: "M8 6.5L5 9.5l3 3M5.3 9.5h6a3.2 3.2 0 0 1 0 6.4H9",
	failed: "M7 7l6 6M13 7l-6 6",
	over: "M6.5 10h7",
	ask: "M7.6 7.8a2.4 2.4 0 1 1 3.6 2.1c-.8.5-1.2.9-1.2 1.8M10 14.3v.2",
	unsure: "M10 6v5M10 14v.2",
	none: "",
	skipped: "M7.5 7l3 3-3 3M11.5 7l3 3-3 3",
};

/** Mark is the icon of a state; a spinner while something is in progress. */
export function Mark({ of, tone = "neutral" }: { of: MarkKind; tone?: string }) {
	if (of === "busy") return <span class={`mark ${tone}`}>{<Loading />}</span>;
	return (
		<svg class={`mark ${tone}`} width="20" height="20" viewBox="0 0 20 20" aria-hidden="true">
			<circle cx="10" cy="10" r="9" />
			<path d={paths[of]} />
		</svg>
	);
}
