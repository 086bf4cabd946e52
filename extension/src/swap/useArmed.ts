import { useEffect, useState } from "preact/hooks";

/** How long a button that gives consent lies still after what it is about came, in ms. */
const still = 400;

/** useArmed is a moment after what is consented to has come: the second press of a
 * double click on what stood there before would else be consent to what nobody read. */
export function useArmed(of: string | number): boolean {
	const [armed, arm] = useState<string | number | undefined>(undefined);
	useEffect(() => {
		const timer = setTimeout(() => arm(of), still);
		return () => clearTimeout(timer);
	}, [of]);
	return armed === of;
}
