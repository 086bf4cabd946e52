import type { MessageKey } from "../../i18n/keys";
import type { Setting } from "../../wire/protocol";

export type SectionID = "swapping" | "security" | "look" | "networks" | "providers" | "prices" | "advanced" | "about";

/** The sections in order. A setting is in the first section whose `has` matches its key. */
export const sections: readonly { id: SectionID; title: MessageKey; has: RegExp }[] = [
	{ id: "swapping", title: "settings_swapping", has: /^swap\./ },
	{ id: "security", title: "settings_security", has: /^(keys\.auto_lock|limits\.(hourly_worth|unpriced_day))$/ },
	{ id: "look", title: "settings_look", has: /^ui\./ },
	{ id: "networks", title: "settings_networks", has: /^networks\./ },
	{ id: "providers", title: "settings_providers", has: /^providers\.\w+\.(base_url|frontend_base_url|disabled)$/ },
	{ id: "prices", title: "settings_prices", has: /^prices\./ },
	{ id: "advanced", title: "settings_advanced", has: /./ },
	{ id: "about", title: "settings_about", has: /^$/ },
];

/** sectionOf returns the section of a setting; "advanced" if no other matches. */
export function sectionOf(key: string): SectionID {
	return sections.find((s) => s.has.test(key))!.id; // advanced matches any key
}

/** Where is one section, or a part of it: "networks", "networks.8453". */
export interface Where {
	id: SectionID;
	subject?: string;
}

/** whereOf parses a route's section; undefined means the list of sections. */
export function whereOf(section: string | undefined): Where | undefined {
	const [id, subject] = (section ?? "").split(".");
	const found = sections.find((s) => s.id === id);
	return found && { id: found.id, ...(subject ? { subject } : {}) };
}

/** What a setting is about: a chain id, a provider, a price source. */
export interface Subject {
	of: "network" | "provider" | "source";
	name: string;
}

const subjects: readonly { of: Subject["of"]; form: RegExp }[] = [
	{ of: "network", form: /^networks\.(\d+)\./ },
	{ of: "provider", form: /^providers\.(\w+)\./ },
	{ of: "source", form: /^prices\.sources\.(\w+)\./ },
];

export function subjectOf(key: string): Subject | undefined {
	for (const { of, form } of subjects) {
		const name = form.exec(key)?.[1];
		if (name) return { of, name };
	}
	return undefined;
}

/** messageOf returns the key of a setting's name, without its subject: "networks.1.rpc" and
 * "networks.10.rpc" both give set_networks_rpc. */
export function messageOf(key: string): string {
	const subject = subjectOf(key);
	const general = subject ? key.replace(`.${subject.name}.`, ".") : key;
	return `set_${general.replaceAll(".", "_")}`;
}

/** A Group is the settings of one subject, under one heading; undefined: of the section itself. */
export interface Group {
	subject: Subject | undefined;
	settings: readonly Setting[];
}

/** groupsOf returns the settings of a section, in the daemon's order. */
export function groupsOf(settings: readonly Setting[], { id, subject }: Where): Group[] {
	const groups = new Map<string, { subject: Subject | undefined; settings: Setting[] }>();
	for (const setting of settings) {
		const of = subjectOf(setting.key);
		if (sectionOf(setting.key) !== id || (subject && of?.name !== subject)) continue;
		const heading = id === "advanced" ? undefined : of;
		const name = heading?.name ?? "";
		if (!groups.has(name)) groups.set(name, { subject: heading, settings: [] });
		groups.get(name)!.settings.push(setting);
	}
	return [...groups.values()];
}
