/** shortAddress is for recognising one's own; where money goes to, all of it is shown. */
export function shortAddress(address: string): string {
	return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Contracts that have one name and one address on every network. */
const named: Readonly<Record<string, string>> = { "0x000000000022d473030f116ddee9f6b43ac78ba3": "Permit2" };

/** contractName is what everybody calls a contract; undefined: it has no such name. */
export function contractName(address: string): string | undefined {
	return named[address.toLowerCase()];
}

/** hue is a colour of its own for an address or a number. */
export function hue(of: string): number {
	let sum = 7;
	for (const c of of.toLowerCase()) sum = (sum * 31 + c.charCodeAt(0)) % 3600;
	return sum / 10;
}

/** shortRoute is a provider's words for a route, with the addresses in it shortened. */
export function shortRoute(route: string): string {
	return route.replace(/0x[0-9a-fA-F]{40}/g, shortAddress);
}
