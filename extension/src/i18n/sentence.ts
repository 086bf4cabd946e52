/** sentence makes one of a clause of the daemon's: lower case, no full stop. */
export function sentence(clause: string): string {
	const [first = "", ...rest] = [...clause.trim()];
	if (!first) return "";
	const words = first.toUpperCase() + rest.join("");
	return /[.!?…]$/.test(words) ? words : `${words}.`;
}
