import { useEffect, useState } from "preact/hooks";
import { useSecondsUntil } from "../components/useSecondsUntil";
import type { Failure } from "../wire/failure";

/** waitOf returns when the daemon accepts a password again, in ms since 1970; 0: now. */
export function waitOf(failure: Failure | undefined, now: number): number {
	return failure?.is("backing_off") ? now + Number(failure.details["seconds"] ?? 1) * 1000 : 0;
}

/** usePasswordWait returns the seconds until a password is accepted again after too many wrong
 * ones, and the failure to show (undefined once a wait is over). */
export function usePasswordWait(failure: Failure | undefined): { wait: number; shown: Failure | undefined } {
	const [until, setUntil] = useState(0);
	useEffect(() => {
		if (failure?.is("backing_off")) setUntil(waitOf(failure, Date.now()));
	}, [failure]);
	const wait = useSecondsUntil(until);
	return { wait, shown: failure?.is("backing_off") && wait === 0 ? undefined : failure };
}
