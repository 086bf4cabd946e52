import { useEffect, useRef } from "preact/hooks";
import type { Failure } from "../wire/failure";
import { Refusal } from "../components/Refusal";

/** Refused says why something was refused, and comes into sight when it does: it may
 * stand behind the button that stays in reach. */
export function Refused({ failure }: { failure: Failure }) {
	const note = useRef<HTMLDivElement>(null);
	useEffect(() => note.current?.scrollIntoView({ block: "nearest" }), []);
	return (
		<div ref={note} class="refused">
			<Refusal failure={failure} />
		</div>
	);
}
