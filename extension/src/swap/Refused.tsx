import { useEffect, useRef } from "preact/hooks";
import type { Failure } from "../wire/failure";
import { Refusal } from "../components/Refusal";

/** Refused shows a refusal and scrolls it into view, as the sticky button may cover it. */
export function Refused({ failure }: { failure: Failure }) {
	const note = useRef<HTMLDivElement>(null);
	useEffect(() => note.current?.scrollIntoView({ block: "nearest" }), []);
	return (
		<div ref={note} class="refused">
			<Refusal failure={failure} />
		</div>
	);
}
