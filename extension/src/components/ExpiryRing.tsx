import { useEffect, useState } from "preact/hooks";

interface Props {
	/** When the offer arrived, ms since 1970. */
	since: number;
	/** RFC 3339. */
	expires: string;
	/** What expires. It must not contain the seconds, which would be read out each time. */
	label: string;
}

const radius = 7;
const round = 2 * Math.PI * radius;

/** remaining returns the fraction, 0 to 1, of the time from `since` to `until` that remains. */
export function remaining(since: number, until: number, now: number): number {
	if (!(until > since)) return 0;
	return Math.min(1, Math.max(0, (until - now) / (until - since)));
}

/** ExpiryRing shows how much of an offer's lifetime remains, updated each second. */
export function ExpiryRing({ since, expires, label }: Props) {
	const [now, tick] = useState(Date.now);
	useEffect(() => {
		const timer = setInterval(() => tick(Date.now()), 1000);
		return () => clearInterval(timer);
	}, []);
	const until = Date.parse(expires);
	const rest = remaining(since, until, now);
	return (
		<svg class={`ring ${rest < 0.25 ? "ending" : ""}`} width="18" height="18" viewBox="0 0 18 18" role="img" aria-label={label}>
			<circle class="ring-base" cx="9" cy="9" r={radius} />
			<circle class="ring-left" cx="9" cy="9" r={radius} stroke-dasharray={`${(rest * round).toFixed(2)} ${round.toFixed(2)}`} transform="rotate(-90 9 9)" />
		</svg>
	);
}
