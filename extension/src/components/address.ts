/** shortAddress is for recognising one's own addresses. A recipient is always shown in full. */
export function shortAddress(address: string): string {
	return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Contracts with the same name and address on every network. */
const named: Readonly<Record<string, string>> = { "0x000000000022d473030f116ddee9f6b43ac78ba3": "Permit2" };

/** contractName returns a contract's common name; undefined if it has none. */
export function contractName(address: string): string | undefined {
	return named[address.toLowerCase()];
}

/** hue derives a colour (degrees) from an address or a number. */
export function hue(of: string): number {
	let sum = 7;
	for (const c of of.toLowerCase()) sum = (sum * 31 + c.charCodeAt(0)) % 3600;
	return sum / 10;
}

/** shortRoute shortens the addresses in a provider's description of a route. */
export function shortRoute(route: string): string {
	return route.replace(/0x[0-9a-fA-F]{40}/g, shortAddress);
}
