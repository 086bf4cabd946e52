import { Segments } from "../components/Segments";
import type { MessageKey } from "../i18n/keys";
import { providerName } from "../i18n/provider-name";
import { t } from "../i18n/t";
import type { ProviderKind } from "../wire/protocol";

/** The providers, in the order shown. */
export const providers: readonly { kind: ProviderKind; name: MessageKey; does: MessageKey }[] = [
	{ kind: "dex", name: "provider_dex", does: "provider_dex_does" },
	{ kind: "bridge", name: "provider_bridge", does: "provider_bridge_does" },
	{ kind: "intent", name: "provider_intent", does: "provider_intent_does" },
	{ kind: "gasless", name: "provider_gasless", does: "provider_gasless_does" },
];

interface Props {
	value: ProviderKind;
	onChange: (kind: ProviderKind) => void;
}

/** ProviderSelector selects a provider. */
export function ProviderSelector({ value, onChange }: Props) {
	const options = providers.map((p) => ({ value: p.kind, text: t(p.name), hint: `${providerName(p.kind)}: ${t(p.does)}` }));
	return <Segments label={t("provider_selector")} name="provider" value={value} options={options} onChange={onChange} />;
}
