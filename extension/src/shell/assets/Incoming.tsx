import { useState } from "preact/hooks";
import { TokenCheck } from "../../components/TokenCheck";
import { TokenRowButton } from "../../components/TokenRowButton";
import { t } from "../../i18n/t";
import { useAnswer } from "../../state/answer";
import { useConnection, useNetworkData } from "../../state/context";
import { useStore } from "../../state/store";

/** Incoming offers the unknown tokens that the account was sent, folded away: anybody can
 * send anybody a token with any name. They have no price, and their contracts are asked for
 * nothing but symbol and decimals until one is opened. */
export function Incoming({ chainId }: { chainId: number }) {
	const { shell, account: selected } = useConnection();
	const account = useStore(selected)?.address;
	const balances = useStore(useNetworkData().balances);
	const [opened, open] = useState<string>();
	const key = account && chainId !== 0 ? `${account} ${chainId}` : undefined;
	const { answer } = useAnswer(key, () => shell.call("tokens.incoming", { account: account ?? "", chainId }), balances);
	const close = () => open(undefined);
	if (!answer || answer.tokens.length === 0) return null;
	if (opened) return <TokenCheck chainId={chainId} address={opened} onTake={close} onBack={close} />;
	return (
		<details class="card">
			<summary>{t("assets_incoming", answer.tokens.length)}</summary>
			<p class="note warn">{t("assets_incoming_text")}</p>
			<ul class="rows">
				{answer.tokens.map((token) => (
					<li key={token.address}>
						<TokenRowButton row={{ token }} selected={false} onPick={() => open(token.address)} />
					</li>
				))}
			</ul>
		</details>
	);
}
