import { useEffect, useState } from "preact/hooks";

/** How long a consent button stays disabled after its subject appeared, in ms. */
const enableDelay = 400;

/** useEnabledAfterDelay returns true a moment after the subject of consent has appeared.
 * Otherwise the second click of a double click would consent to something that the user has not
 * read. */
export function useEnabledAfterDelay(of: string | number): boolean {
	const [enabled, setEnabled] = useState<string | number | undefined>(undefined);
	useEffect(() => {
		const timer = setTimeout(() => setEnabled(of), enableDelay);
		return () => clearTimeout(timer);
	}, [of]);
	return enabled === of;
}
