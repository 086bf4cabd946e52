import { useEffect, useState } from "preact/hooks";
import { formatSeconds, formatTime } from "../i18n/time";

/** Countdown shows the time left, updated each second. role="timer" is read by a screen
 * reader on request only. */
export function Countdown({ to, label, past }: { to: string; label: string; past: string }) {
	const left = useRemaining(to);
	return (
		<p class="row apart small countdown">
			<span class="soft">{label}</span>
			<span class="number" role="timer" title={formatTime(to, "whole")}>
				{left > 0 ? formatSeconds(left) : past}
			</span>
		</p>
	);
}

/** useRemaining returns the seconds until a time, updated each second; negative once it is over. */
function useRemaining(to: string): number {
	const left = () => (Date.parse(to) - Date.now()) / 1000;
	const [seconds, set] = useState(left);
	useEffect(() => {
		set(left());
		const tick = setInterval(() => set(left()), 1000);
		return () => clearInterval(tick);
	}, [to]);
	return seconds;
}
