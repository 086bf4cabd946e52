import { useEffect, useState } from "preact/hooks";

/** How long a consent button stays disabled after its subject appeared, in ms. */
const armDelay = 400;

/** useArmed returns true a moment after the subject of consent has appeared. Otherwise the
 * second click of a double click would consent to something that the user has not read. */
export function useArmed(of: string | number): boolean {
	const [armed, arm] = useState<string | number | undefined>(undefined);
	useEffect(() => {
		const timer = setTimeout(() => arm(of), armDelay);
		return () => clearTimeout(timer);
	}, [of]);
	return armed === of;
}
