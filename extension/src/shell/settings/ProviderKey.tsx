import { useState } from "preact/hooks";
import { type MessageKey, t } from "../../i18n/t";
import { useConnection, useNetworkData } from "../../state/context";
import { announce } from "../../components/Announcer";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { ActModal } from "../ActModal";

interface Props {
	/** As in providers.set_key. */
	provider: string;
	name: string;
}

/** What the API key of some providers is for. */
const texts: Readonly<Record<string, MessageKey>> = { dex: "key_dex", gasless: "key_gasless" };

/** ProviderKey sets or removes a provider's API key. The daemon never shows a key, nor
 * whether there is one. */
export function ProviderKey({ provider, name }: Props) {
	const { shell } = useConnection();
	const { providers } = useNetworkData();
	const [open, setOpen] = useState<"set" | "forget">();
	const [key, setKey] = useState("");
	const close = () => {
		setOpen(undefined);
		setKey("");
	};
	async function send(password: string) {
		const { set } = await shell.call("providers.set_key", { provider, key: open === "set" ? key.trim() : "", password });
		announce(t(set ? "key_kept" : "key_forgotten", name));
		providers.set((await shell.call("swap.providers", {})).providers);
	}
	return (
		<li class="setting">
			<div class="row">
				<div class="grow">
					<p>{t("key_title")}</p>
					<p class="soft small">{t(texts[provider] ?? "key_text")}</p>
				</div>
				<Button kind="plain" label={t("key_forget_of", name)} onClick={() => setOpen("forget")}>
					{t("key_forget")}
				</Button>
				<Button kind="plain" label={t("key_set_of", name)} onClick={() => setOpen("set")}>
					{t("key_set")}
				</Button>
			</div>
			{open === "set" && (
				<ActModal title={t("key_set_of", name)} act={t("save")} asksPassword ready={key.trim() !== ""} onAct={send} onClose={close}>
					<Field label={t("key_title")} type="password" value={key} onInput={setKey} />
				</ActModal>
			)}
			{open === "forget" && (
				<ActModal title={t("key_forget_of", name)} act={t("key_forget")} asksPassword onAct={send} onClose={close}>
					<p>{t("key_forget_text", name)}</p>
				</ActModal>
			)}
		</li>
	);
}
