import { useEffect } from "preact/hooks";
import { numbers } from "../i18n/formats";
import { formatTime } from "../i18n/time";
import { providerName } from "../i18n/provider-name";
import { locale, t } from "../i18n/t";
import { useAct } from "../order/useAct";
import { useConnection, useNetworkData } from "../state/context";
import { useStore } from "../state/store";
import type { Network, RPC } from "../wire/protocol";
import { announce } from "../components/Announcer";
import { Avatar } from "../components/Avatar";
import { Button } from "../components/Button";
import { Refusal } from "../components/Refusal";
import { Screen } from "../components/Screen";
import { endpointState, networkState, supportOf, tones } from "./network-health";
import { go } from "./route";

/** Poll interval of the networks' health, in ms. */
const pause = 10_000;

/** Networks lists the networks with their health, to select the active one. */
export default function Networks() {
	const { shell } = useConnection();
	const data = useNetworkData();
	const networks = useStore(data.networks);
	const select = useAct(async (_request, network: Network) => {
		await data.select(network.chainId);
		announce(t("networks_chosen", network.name));
	});
	useEffect(() => {
		const read = () => void shell.call("networks.list", {}).then((list) => data.networks.set(list.networks)).catch(() => {}); // on failure the last ones stay
		read();
		const timer = setInterval(() => document.visibilityState === "visible" && read(), pause);
		return () => clearInterval(timer);
	}, []);
	return (
		<Screen title={t("networks_title")} onBack="back">
			<p class="soft">{t("networks_text")}</p>
			{select.failure && <Refusal failure={select.failure} />}
			<ul class="stack tight">
				{networks.map((n) => (
					<NetworkCard key={n.chainId} network={n} onSelect={() => void select.run(n)} />
				))}
			</ul>
		</Screen>
	);
}

function NetworkCard({ network, onSelect }: { network: Network; onSelect: () => void }) {
	const active = useStore(useNetworkData().active) === network.chainId;
	const { state, answering, all } = networkState(network);
	return (
		<li class="card network">
			<button type="button" class="pick" aria-current={active} onClick={onSelect}>
				<Avatar of={String(network.chainId)} letter={network.name} size={28} />
				<span class="grow stack flat">
					<span class="cut">{network.name}</span>
					<span class={`small state ${tones[state]}`}>
						{state === "ended" ? t("network_ended", formatTime(network.ended!, "dated")) : t(`networks_${state}`, answering, all)}
					</span>
				</span>
				{active && <span class="chosen">{t("networks_active")}</span>}
			</button>
			<Support chainId={network.chainId} />
			<details class="disclosure small">
				<summary aria-label={t("networks_endpoints_of", network.name)}>{t("networks_endpoints")}</summary>
				<div class="stack tight">
					<ul class="stack tight">
						{network.rpc.map((rpc, i) => (
							<Endpoint key={i} rpc={rpc} />
						))}
					</ul>
					<Button kind="plain" label={t("networks_settings_of", network.name)} onClick={() => go({ at: "settings", section: `networks.${network.chainId}` })}>
						{t("networks_settings")}
					</Button>
				</div>
			</details>
		</li>
	);
}

function Support({ chainId }: { chainId: number }) {
	const providers = useStore(useNetworkData().providers);
	return (
		<ul class="support small" aria-label={t("networks_support")}>
			{supportOf(providers, chainId).map(({ kind, word, note }) => (
				<li key={kind} class={word} title={note}>
					<span aria-hidden="true">{word === "active" ? "✓" : "–"}</span> {providerName(kind)}
					<span class={word === "disabled" ? "soft" : "hidden"}> {t(`networks_support_${word}`)}</span>
				</li>
			))}
		</ul>
	);
}

function Endpoint({ rpc }: { rpc: RPC }) {
	const state = endpointState(rpc);
	return (
		<li class="stack flat">
			<span class="row apart">
				<span class="mono cut">{rpc.host}</span>
				<span class={`state ${tones[state]}`}>{t(`endpoint_${state}`)}</span>
			</span>
			{rpc.block !== undefined && <span class="soft number">{t("endpoint_block", numbers(locale()).format(rpc.block))}</span>}
			{rpc.failure && <span class="wrong">{rpc.failure}</span>}
		</li>
	);
}
