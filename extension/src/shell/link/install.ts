/** Browsers that a person may have to tell us: some call themselves Chrome. */
export type BrowserKind = "chromium" | "chrome" | "brave" | "edge" | "vivaldi" | "opera" | "firefox";

/** Systems that there are programs for; other: there are none. */
export type System = "linux" | "mac" | "windows" | "other";

/** A family of browsers shares one form of extension ids and of manifests. */
type Family = "chromium" | "firefox";

interface Place {
	name: string;
	family: Family;
	/** Folders for the host's manifest below the home folder. */
	linux: string;
	mac: string;
	/** The registry key below HKCU\Software. */
	windows: string;
}

const mac = (folder: string) => `Library/Application Support/${folder}/NativeMessagingHosts`;
const linux = (folder: string) => `.config/${folder}/NativeMessagingHosts`;

/** Where each browser looks for a host. Brave (but on Linux) and Opera look where
 * Chrome does, and so does Vivaldi on Windows. */
export const places: Readonly<Record<BrowserKind, Place>> = {
	chromium: { name: "Chromium", family: "chromium", linux: linux("chromium"), mac: mac("Chromium"), windows: "Chromium" },
	chrome: { name: "Google Chrome", family: "chromium", linux: linux("google-chrome"), mac: mac("Google/Chrome"), windows: "Google\\Chrome" },
	brave: { name: "Brave", family: "chromium", linux: linux("BraveSoftware/Brave-Browser"), mac: mac("Google/Chrome"), windows: "Google\\Chrome" },
	edge: { name: "Microsoft Edge", family: "chromium", linux: linux("microsoft-edge"), mac: mac("Microsoft Edge"), windows: "Microsoft\\Edge" },
	vivaldi: { name: "Vivaldi", family: "chromium", linux: linux("vivaldi"), mac: mac("Vivaldi"), windows: "Google\\Chrome" },
	opera: { name: "Opera", family: "chromium", linux: linux("google-chrome"), mac: mac("Google/Chrome"), windows: "Google\\Chrome" },
	firefox: { name: "Firefox", family: "firefox", linux: ".mozilla/native-messaging-hosts", mac: mac("Mozilla"), windows: "Mozilla" },
};

/** The host's name never changes; its manifest bears it. */
const host = "app.swapkeep.host";

/** An Allowance is what lets an extension in: lines of the configuration, which the
 * host reads whenever a browser starts it. */
interface Allowance {
	file: string;
	lines: string;
}

const configurations: Readonly<Record<Exclude<System, "other">, string>> = {
	linux: "~/.config/swapkeep/config.toml",
	mac: "~/Library/Application Support/swapkeep/config.toml",
	windows: "%APPDATA%\\swapkeep\\config.toml",
};

export type Step =
	/** The programs have to be there: this shows it. */
	| { step: "programs"; command: string }
	/** The host has to let this extension in. */
	| ({ step: "allow" } & Allowance)
	/** The browser has to find the program; on Windows by the registry. */
	| { step: "manifest" | "registry"; command: string };

export interface Situation {
	browser: BrowserKind;
	system: Exclude<System, "other">;
	/** This extension's id. */
	id: string;
	/** The host does not know its id by itself. */
	unlisted: boolean;
}

/** steps are what a person does, in order, until the browser finds the host. */
export function steps({ browser, system, id, unlisted }: Situation): Step[] {
	const { family } = places[browser];
	const found: Step = system === "windows" ? { step: "registry", command: registryCommand(browser) } : { step: "manifest", command: folderCommand(browser, system) };
	return [
		{ step: "programs", command: "swapkeep version" },
		...(unlisted ? [{ step: "allow" as const, file: configurations[system], lines: `[extensions]\n${family} = [\n  "${id}",\n]` }] : []),
		found,
	];
}

function folderCommand(browser: BrowserKind, system: "linux" | "mac"): string {
	const folder = shellPath(places[browser][system]);
	return `mkdir -p ${folder} && swapkeep manifest ${places[browser].family} --dir ${folder}`;
}

/** shellPath is a path below the home folder, as a shell takes it. */
function shellPath(path: string): string {
	return path.includes(" ") ? `"$HOME/${path}"` : `~/${path}`;
}

/** Both families' files have one name, so each has a folder of its own. */
function registryCommand(browser: BrowserKind): string {
	const { family, windows } = places[browser];
	const folder = `%LOCALAPPDATA%\\Swapkeep\\${family}`;
	return [
		`if not exist "${folder}" mkdir "${folder}"`,
		`swapkeep manifest ${family} --dir "${folder}"`,
		`reg add "HKCU\\Software\\${windows}\\NativeMessagingHosts\\${host}" /ve /t REG_SZ /d "${folder}\\${host}.json" /f`,
	].join("\n");
}
