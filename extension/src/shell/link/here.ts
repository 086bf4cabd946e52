import type { BrowserName, System } from "./install";

/** What a browser tells of itself. */
export interface Signs {
	/** Of navigator.userAgentData; Firefox has none. */
	brands: readonly string[];
	userAgent: string;
	/** Only Brave has navigator.brave. */
	brave: boolean;
}

/** First match wins: all but Firefox also call themselves Chrome. */
const marks: readonly { name: BrowserName; brand?: RegExp; agent?: RegExp }[] = [
	{ name: "firefox", agent: /\bFirefox\// },
	{ name: "brave", brand: /brave/i },
	{ name: "edge", brand: /edge/i, agent: /\bEdg\// },
	{ name: "opera", brand: /opera/i, agent: /\bOPR\// },
	{ name: "vivaldi", brand: /vivaldi/i, agent: /\bVivaldi\// },
	{ name: "chrome", brand: /google chrome/i },
];

/** browserOf tells which browser this is, as well as it can be told. */
export function browserOf({ brands, userAgent, brave }: Signs): BrowserName {
	if (brave) return "brave";
	return marks.find((m) => brands.some((b) => m.brand?.test(b)) || m.agent?.test(userAgent))?.name ?? "chromium";
}

const systems: Readonly<Record<string, System>> = { linux: "linux", openbsd: "linux", mac: "mac", win: "windows" };

/** systemOf reads chrome.runtime.getPlatformInfo's os. */
export function systemOf(os: string): System {
	return systems[os] ?? "other";
}

/** here is where this extension runs. */
export async function here(): Promise<{ browser: BrowserName; system: System }> {
	const nav = navigator as Navigator & { userAgentData?: { brands: { brand: string }[] }; brave?: unknown };
	const signs = { brands: nav.userAgentData?.brands.map((b) => b.brand) ?? [], userAgent: nav.userAgent, brave: nav.brave !== undefined };
	return { browser: browserOf(signs), system: systemOf((await chrome.runtime.getPlatformInfo()).os) };
}
