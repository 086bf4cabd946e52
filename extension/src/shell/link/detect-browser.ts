import type { BrowserName, System } from "./install";

/** How a browser identifies itself. */
export interface Signs {
	/** Of navigator.userAgentData, which Firefox lacks. */
	brands: readonly string[];
	userAgent: string;
	/** Whether there is navigator.brave, as only in Brave. */
	brave: boolean;
}

/** The first match wins, since all but Firefox also identify as Chrome. */
const marks: readonly { name: BrowserName; brand?: RegExp; agent?: RegExp }[] = [
	{ name: "firefox", agent: /\bFirefox\// },
	{ name: "brave", brand: /brave/i },
	{ name: "edge", brand: /edge/i, agent: /\bEdg\// },
	{ name: "opera", brand: /opera/i, agent: /\bOPR\// },
	{ name: "vivaldi", brand: /vivaldi/i, agent: /\bVivaldi\// },
	{ name: "chrome", brand: /google chrome/i },
];

/** browserOf guesses the browser. */
export function browserOf({ brands, userAgent, brave }: Signs): BrowserName {
	if (brave) return "brave";
	return marks.find((m) => brands.some((b) => m.brand?.test(b)) || m.agent?.test(userAgent))?.name ?? "chromium";
}

const systems: Readonly<Record<string, System>> = { linux: "linux", openbsd: "linux", mac: "mac", win: "windows" };

/** systemOf maps the os of chrome.runtime.getPlatformInfo. */
export function systemOf(os: string): System {
	return systems[os] ?? "other";
}

/** detectBrowser returns the browser and system that the extension runs in. */
export async function detectBrowser(): Promise<{ browser: BrowserName; system: System }> {
	const nav = navigator as Navigator & { userAgentData?: { brands: { brand: string }[] }; brave?: unknown };
	const signs = { brands: nav.userAgentData?.brands.map((b) => b.brand) ?? [], userAgent: nav.userAgent, brave: nav.brave !== undefined };
	return { browser: browserOf(signs), system: systemOf((await chrome.runtime.getPlatformInfo()).os) };
}
