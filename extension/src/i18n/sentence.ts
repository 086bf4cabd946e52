/** sentence makes a sentence of a clause by the daemon: capital letter, full stop. */
export function sentence(clause: string): string {
	const [first = "", ...rest] = [...clause.trim()];
	if (!first) return "";
	const words = first.toUpperCase() + rest.join("");
	return /[.!?…]$/.test(words) ? words : `${words}.`;
}
