import { useEffect, useState } from "preact/hooks";
import { span, when } from "../i18n/when";

/** Countdown shows the time left, updated each second. role="timer" is read by a screen
 * reader on request only. */
export function Countdown({ to, label, past }: { to: string; label: string; past: string }) {
	const left = useLeft(to);
	return (
		<p class="row apart small countdown">
			<span class="soft">{label}</span>
			<span class="number" role="timer" title={when(to, "whole")}>
				{left > 0 ? span(left) : past}
			</span>
		</p>
	);
}

/** useLeft returns the seconds until a time, updated each second; negative once it is over. */
function useLeft(to: string): number {
	const left = () => (Date.parse(to) - Date.now()) / 1000;
	const [seconds, set] = useState(left);
	useEffect(() => {
		set(left());
		const tick = setInterval(() => set(left()), 1000);
		return () => clearInterval(tick);
	}, [to]);
	return seconds;
}
