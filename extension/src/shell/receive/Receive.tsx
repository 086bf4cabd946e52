import { useMemo } from "preact/hooks";
import { t } from "../../i18n/t";
import { useConnection, useNetworkData } from "../../state/context";
import { useStore } from "../../state/store";
import { CopyButton } from "../../components/CopyButton";
import { Screen } from "../../components/Screen";
import { qr } from "./qr";

/** Receive shows the account's full address, as text and QR code. */
export default function Receive() {
	const account = useStore(useConnection().account);
	const active = useStore(useNetworkData().active);
	const network = useStore(useNetworkData().networks).find((n) => n.chainId === active);
	if (!account) return null;
	return (
		<Screen title={t("receive_title")}>
			<div class="receive card stack">
				<QR text={account.address} />
				<code class="address">{account.address}</code>
				<CopyButton kind="main" text={account.address} label={t("receive_copy")} />
			</div>
			{network && <p class="note warn small">{t("receive_network", network.name)}</p>}
			<p class="soft small">{t("receive_other")}</p>
		</Screen>
	);
}

/** QR is dark on light in both themes, as many cameras read nothing else. */
function QR({ text }: { text: string }) {
	const { path, size } = useMemo(() => qr(text), [text]);
	return (
		<svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={t("receive_qr", text)} shape-rendering="crispEdges">
			<rect width={size} height={size} fill="#fff" />
			<path d={path} fill="#000" />
		</svg>
	);
}
