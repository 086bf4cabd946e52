import type { ComponentChildren } from "preact";
import { languages, t } from "../../i18n/t";
import { useConnection, useNetworkData } from "../../state/context";
import { useStore } from "../../state/store";
import type { ProviderKind, Setting } from "../../wire/protocol";
import { Command } from "../../components/Command";
import { Screen } from "../../components/Screen";
import { back, go, type Route } from "../route";
import { sentence } from "../../i18n/sentence";
import { languageOf } from "./language";
import { Appearance } from "./Appearance";
import { ProviderKey } from "./ProviderKey";
import { type Group, groupsOf, type SectionID, sections, type Subject, type Where, whereOf } from "./sections";
import { SettingRow } from "./SettingRow";
import { displayValue } from "./display-value";
import { useNames } from "./useSetting";

/** Settings are stored by the daemon and the same in every window, except for the theme. */
export default function Settings({ route }: { route: Extract<Route, { at: "settings" }> }) {
	const where = whereOf(route.section);
	return where ? <Section where={where} /> : <Sections />;
}

function Sections() {
	const settings = useStore(useConnection().settings);
	return (
		<Screen title={t("settings_title")}>
			<Pending />
			<ul class="rows card">
				{sections.map(({ id, title }) => (
					<li key={id} class="glanced">
						<button type="button" class="pick" onClick={() => go({ at: "settings", section: id })}>
							<span class="grow">{t(title)}</span>
							<span class="soft" aria-hidden="true">
								›
							</span>
						</button>
						<span class="soft small">{glance(id, settings)}</span>
					</li>
				))}
			</ul>
		</Screen>
	);
}

/** glance returns a value to show next to a section's name. */
function glance(id: SectionID, settings: readonly Setting[]): string {
	if (id === "look") return languages[languageOf(settings)] ?? "";
	const shown = settings.find((s) => s.key === glanced[id]);
	return shown ? displayValue(shown) : "";
}

const glanced: Partial<Record<SectionID, string>> = { swapping: "swap.slippage", security: "keys.auto_lock" };

/** Pending says how to apply changes that need a restart. */
function Pending() {
	const waiting = useStore(useConnection().settings).filter((s) => s.pending).length;
	if (waiting === 0) return null;
	return (
		<div class="note stack tight">
			<p>{waiting === 1 ? t("settings_pending_one") : t("settings_pending_all", waiting)}</p>
			<Command text="swapkeep stop" label={t("settings_pending_copy")} />
		</div>
	);
}

function Section({ where }: { where: Where }) {
	const groups = groupsOf(useStore(useConnection().settings), where);
	const title = t(sections.find((s) => s.id === where.id)!.title); // its id is in the table
	return (
		<Screen title={title} onBack={back}>
			<Pending />
			{where.id === "about" && <About />}
			{where.id === "look" && <Appearance />}
			{where.id === "networks" && <p class="soft">{t("settings_networks_text")}</p>}
			{where.id !== "look" && groups.map((group) => <GroupView key={group.subject?.name ?? ""} group={group} />)}
		</Screen>
	);
}

/** Price sources that take an API key, in addition to the providers. */
const keyed = new Set(["coingecko", "hosted"]);

function GroupView({ group: { subject, settings } }: { group: Group }) {
	const names = useNames();
	const name = subject && names.subject(subject);
	const takesKey = subject?.of === "provider" || (subject?.of === "source" && keyed.has(subject.name));
	return (
		<section class="stack tight" aria-label={name}>
			{name && (
				<h2>
					{name} {subject?.of === "network" && <span class="soft small">{t("order_chain", subject.name)}</span>}
				</h2>
			)}
			{subject && <Standing subject={subject} />}
			<ul class="card settings">
				{settings.map((setting) => (
					<SettingRow key={setting.key} setting={setting} />
				))}
				{takesKey && subject && name && <ProviderKey provider={subject.name} name={name} />}
			</ul>
		</section>
	);
}

/** Standing says whether a provider is ready, and why not. */
function Standing({ subject }: { subject: Subject }): ComponentChildren {
	const provider = useStore(useNetworkData().providers).find((p) => p.kind === (subject.name as ProviderKind));
	if (subject.of !== "provider" || !provider) return null;
	if (provider.ready) return <p class="state good small">{t("provider_ready")}</p>;
	return <p class="state critical small">{provider.reason ? sentence(provider.reason) : t("provider_unready")}</p>;
}

function About() {
	const hello = useStore(useConnection().hello);
	const facts: readonly (readonly [string, string | undefined])[] = [
		[t("about_extension"), chrome.runtime.getManifest().version],
		[t("about_daemon"), hello?.version],
		[t("about_protocol"), hello && String(hello.protocol.selected)],
		[t("about_home"), hello?.stateDirId],
		[t("about_instance"), hello?.instance],
		[t("about_origin"), hello?.connection.origin],
	];
	return (
		<dl class="facts card">
			{facts.map(([name, value]) => (
				<>
					<dt>{name}</dt>
					<dd class="mono">{value ?? "–"}</dd>
				</>
			))}
		</dl>
	);
}
