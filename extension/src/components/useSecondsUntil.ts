import { useEffect, useState } from "preact/hooks";

/** secondsUntil returns the seconds from `now` to `at` (both ms since 1970), rounded up; 0
 * once it is over. */
export function secondsUntil(at: number, now: number): number {
	return Math.max(0, Math.ceil((at - now) / 1000));
}

/** useSecondsUntil counts down to a time in ms since 1970. */
export function useSecondsUntil(at: number): number {
	const [now, tick] = useState(Date.now);
	useEffect(() => {
		tick(Date.now());
		if (at <= Date.now()) return;
		const timer = setInterval(() => {
			tick(Date.now());
			if (at <= Date.now()) clearInterval(timer);
		}, 250);
		return () => clearInterval(timer);
	}, [at]);
	return secondsUntil(at, now);
}
