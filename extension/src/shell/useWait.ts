import { useEffect, useState } from "preact/hooks";
import { useSecondsUntil } from "../components/useSecondsUntil";
import type { Failure } from "../wire/failure";

/** waitOf is until when the daemon takes no password, in ms since 1970; 0: it takes one. */
export function waitOf(failure: Failure | undefined, now: number): number {
	return failure?.is("backing_off") ? now + Number(failure.details["seconds"] ?? 1) * 1000 : 0;
}

/** useWait are the seconds that no password is taken, after too many wrong ones, and
 * what is still to be said of a failure: nothing of a wait that is over. */
export function useWait(failure: Failure | undefined): { wait: number; shown: Failure | undefined } {
	const [until, setUntil] = useState(0);
	useEffect(() => {
		if (failure?.is("backing_off")) setUntil(waitOf(failure, Date.now()));
	}, [failure]);
	const wait = useSecondsUntil(until);
	return { wait, shown: failure?.is("backing_off") && wait === 0 ? undefined : failure };
}
