import { useEffect, useRef, useState } from "preact/hooks";
import type { Token } from "../wire/protocol";
import { t } from "../i18n/t";
import { useAct } from "../order/useAct";
import { useAnswer } from "../state/answer";
import { useConnection } from "../state/context";
import { Avatar } from "./Avatar";
import { Button } from "./Button";
import { Loading } from "./Loading";
import { Refusal } from "./Refusal";
import { doubtOf } from "./token-rows";
import { Icon } from "./Icon";

interface Props {
	chainId: number;
	address: string;
	/** Absent if the token is not known here; its contract is then read, and the token
	 * imported when accepted. */
	token?: Token;
	onTake: (token: Token) => void;
	onBack: () => void;
}

/** TokenCheck shows a token that is not on a trusted list, before it is selected. */
export function TokenCheck({ chainId, address, token, onTake, onBack }: Props) {
	const heading = useRef<HTMLHeadingElement>(null);
	useEffect(() => heading.current?.focus(), []);
	const { shown, failure, busy, importIt } = useImport(chainId, address, token, onTake);
	return (
		<div class="stack">
			<div class="row">
				<Button kind="icon" label={t("back")} onClick={onBack}>
					<Icon name="back" />
				</Button>
				<h3 ref={heading} tabIndex={-1}>
					{t(token ? "picker_check" : "picker_import")}
				</h3>
			</div>
			{shown && <About token={shown} />}
			{!shown && !failure && (
				<p class="soft" role="status">
					<Loading /> {t("picker_reading")}
				</p>
			)}
			{failure && <Refusal failure={failure} />}
			{shown && <Take token={shown} importing={!token} busy={busy} onTake={() => (token ? onTake(token) : importIt())} />}
		</div>
	);
}

/** useImport reads a token's contract, and imports the token when importIt is called. */
function useImport(chainId: number, address: string, token: Token | undefined, onTake: (token: Token) => void) {
	const { shell } = useConnection();
	const read = useAnswer(token ? undefined : `${chainId}:${address}`, () => shell.call("tokens.import", { chainId, address, preview: true }));
	const act = useAct(async () => onTake((await shell.call("tokens.import", { chainId, address })).token));
	return { shown: token ?? read.answer?.token, failure: act.failure ?? read.failure, busy: act.busy, importIt: () => void act.run() };
}

function About({ token }: { token: Token }) {
	return (
		<div class="card stack tight">
			<div class="row">
				<Avatar of={token.address} letter={token.symbol} mark={token.mark} size={32} />
				<span class="grow named">
					<span class="strong">{token.symbol}</span>
					<span class="soft small">{token.name}</span>
				</span>
			</div>
			<dl class="facts small">
				<dt class="wide">{t("picker_address")}</dt>
				<dd class="wide mono">{token.address}</dd>
				<dt>{t("picker_decimals")}</dt>
				<dd class="number">{token.decimals}</dd>
				{token.list && (
					<>
						<dt>{t("picker_list")}</dt>
						<dd>{token.list}</dd>
					</>
				)}
			</dl>
		</div>
	);
}

function Take({ token, importing, busy, onTake }: { token: Token; importing: boolean; busy: boolean; onTake: () => void }) {
	const [sure, setSure] = useState(false);
	const doubt = doubtOf(token);
	const tick = doubt !== undefined && (importing || doubt === "imitates");
	return (
		<>
			{doubt === "imitates" && (
				<p class="note critical">
					{t("picker_warn_imitates", token.symbol)} <span class="mono">{token.imitates}</span>
				</p>
			)}
			{doubt && <p class="note warn">{t("picker_warn_unverified")}</p>}
			{tick && (
				<label class="choice">
					<input type="checkbox" checked={sure} onChange={(e) => setSure(e.currentTarget.checked)} />
					<span>{t("picker_sure")}</span>
				</label>
			)}
			<Button kind="main" disabled={tick && !sure} busy={busy} onClick={onTake}>
				{t(importing ? "picker_import_take" : "picker_take")}
			</Button>
		</>
	);
}
