import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { MessageKey } from "../../i18n/keys";
import { t } from "../../i18n/t";
import type { Link } from "../../wire/link";
import { Failure } from "../../wire/failure";
import { maxVersion, minVersion, releasedIDs } from "../../wire/protocol";
import { useConnection } from "../../state/context";
import { Button } from "../../components/Button";
import { Command } from "../../components/Command";
import { Screen } from "../../components/Screen";
import { Select } from "../../components/Select";
import { useSecondsUntil } from "../../components/useSecondsUntil";
import { sentence } from "../../i18n/sentence";
import { failureText } from "../failure-text";
import { detectBrowser } from "./detect-browser";
import { localProgram, type BrowserName, doctorCommand, installCommand, sameFamily, type System } from "./install";

type Of<A extends Link["at"]> = Extract<Link, { at: A }>;

/** LinkScreen says why there is no connection to the daemon, and what the user can do. */
export default function LinkScreen({ link }: { link: Link }) {
	switch (link.at) {
		case "missing":
			return <Install link={link} title={t("link_missing")} why={t("link_missing_why")} unlisted={!releasedIDs.includes(ids.id)} />;
		case "forbidden":
			return <Install link={link} title={t("link_forbidden")} why={t("link_forbidden_why")} unlisted />;
		case "lost":
			return <Lost link={link} />;
		case "outdated":
			return <Outdated link={link} />;
		case "refused":
			return <Refused link={link} />;
		case "connecting":
		case "ready":
			return null; // shown elsewhere
	}
}

interface InstallProps {
	link: Of<"missing" | "forbidden">;
	title: string;
	why: string;
	unlisted: boolean;
}

function Install({ link, title, why, unlisted }: InstallProps) {
	return (
		<Screen title={title}>
			<p>{why}</p>
			{link.at === "forbidden" && <ExtensionID />}
			<Guide unlisted={unlisted} lacking={link.at === "missing"} />
			<Again label={t("try_again")} />
			<Browser reason={link.reason} />
			<About />
		</Screen>
	);
}

const ids = chrome.runtime;

function ExtensionID() {
	return (
		<p class="soft small">
			{t("link_id")} <code>{ids.id}</code>
		</p>
	);
}

interface GuideProps {
	unlisted: boolean;
	/** The programs may not be installed at all. */
	lacking?: boolean;
}

/** Guide shows how to install the host for this browser. The browser can be corrected, as
 * many identify as Chrome or Firefox. */
function Guide({ unlisted, lacking }: GuideProps) {
	const [place, setPlace] = useState<{ browser: BrowserName; system: System }>();
	useEffect(() => void detectBrowser().then(setPlace), []);
	if (!place) return null;
	const { browser, system } = place;
	if (system === "other") return <p class="note warn">{t("link_no_program")}</p>;
	return (
		<>
			<Select label={t("link_browser")} value={browser} options={sameFamily(browser)} onChange={(name) => setPlace({ browser: name as BrowserName, system })} />
			<ol class="guide">
				{lacking && (
					<li>
						<p>{t("link_get")}</p>
					</li>
				)}
				<li class="stack tight">
					<p>{t(system === "windows" ? "link_install_windows" : "link_install", localProgram[system])}</p>
					<Command text={installCommand({ browser, id: ids.id, unlisted })} label={t("link_copy_install")} />
				</li>
				<li class="stack tight">
					<p>{t("link_doctor_then")}</p>
					<DoctorCommand />
				</li>
			</ol>
		</>
	);
}

const DoctorCommand = () => <Command text={doctorCommand} label={t("link_copy_doctor")} />;

function Lost({ link }: { link: Of<"lost"> }) {
	const seconds = useSecondsUntil(link.retryAt);
	return (
		<Screen title={t("link_lost")}>
			<p>{t("link_lost_why")}</p>
			<p class="soft number" aria-live="off">
				{seconds > 0 ? t("link_lost_wait", seconds) : t("link_lost_now")}
			</p>
			<Again label={t("try_now")} />
			<Doctor />
			<Words who="link_reason" words={link.reason} />
		</Screen>
	);
}

function Doctor() {
	return (
		<div class="stack tight">
			<p>{t("link_doctor")}</p>
			<DoctorCommand />
		</div>
	);
}

function Outdated({ link }: { link: Of<"outdated"> }) {
	const client = link.update === "client";
	return (
		<Screen title={t(client ? "link_update_extension" : "link_update_daemon")}>
			<p>{t(client ? "link_update_extension_why" : "link_update_daemon_why")}</p>
			<dl class="facts card">
				<dt>{t("link_this_extension")}</dt>
				<dd>{ids.getManifest().version}</dd>
				<dt>{t("link_speaks")}</dt>
				<dd>{minVersion === maxVersion ? String(minVersion) : `${minVersion}–${maxVersion}`}</dd>
			</dl>
			{!client && (
				<div class="stack tight">
					<p>{t("link_update_daemon_how")}</p>
					<Command text="swapkeep install" label={t("link_copy_install")} />
				</div>
			)}
			<Again label={t("try_again")} />
			<Daemon words={link.reason} />
		</Screen>
	);
}

/** Titles for specific refusals. */
const refusals: Readonly<Record<string, MessageKey>> = {
	database_full: "link_refused_database_full",
	database_newer: "link_update_daemon",
	database_locked: "link_refused_database_locked",
	database_readonly: "link_refused_database_readonly",
	origin_refused: "link_refused_origin_refused",
	busy: "link_refused_busy",
	daemon_stopped: "link_refused_daemon_stopped",
};

function Refused({ link }: { link: Of<"refused"> }) {
	const failure = new Failure(link.error);
	return (
		<Screen title={t(refusals[failure.name] ?? "link_refused")}>
			<p>{failureText(failure)}</p>
			<Daemon words={[failure.message, failure.remedy].map(sentence).join(" ")} />
			{failure.is("origin_refused") ? (
				<>
					<ExtensionID />
					<Guide unlisted />
				</>
			) : (
				<Doctor />
			)}
			<Again label={t("try_again")} />
		</Screen>
	);
}

function Again({ label }: { label: string }) {
	const { shell } = useConnection();
	return (
		<Button kind="main" onClick={() => shell.retry()}>
			{label}
		</Button>
	);
}

/** Words quotes a text of the browser or daemon. */
function Words({ who, words }: { who: MessageKey; words: string }) {
	if (!words) return null;
	return (
		<p class="soft small">
			{t(who)} <q>{words}</q>
		</p>
	);
}

const Browser = ({ reason }: { reason: string }) => <Words who="link_browser_says" words={reason} />;
const Daemon = ({ words }: { words: string }) => <Words who="link_daemon_says" words={words} />;

function About(): ComponentChildren {
	return (
		<details class="disclosure">
			<summary>{t("link_what")}</summary>
			<p>{t("link_what_text")}</p>
		</details>
	);
}
