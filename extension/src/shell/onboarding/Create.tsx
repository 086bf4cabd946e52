import { useEffect, useState } from "preact/hooks";
import { t } from "../../i18n/t";
import { useConnection } from "../../state/context";
import { useStore } from "../../state/store";
import { Button } from "../../components/Button";
import { Command } from "../../components/Command";
import { Screen } from "../../components/Screen";
import { dropWordsOnLock, type NewWallet } from "./new-wallet";
import { createWallet } from "./create-wallet";
import { NewWalletForm, NameAndPassword, useNewWallet } from "./NewWalletForm";
import { Sandbox } from "./Sandbox";
import { endSetup } from "./setup";
import { WordsCheck, WordsShown } from "./Words";
import { wordsOf } from "./mnemonic";

/** Create makes a wallet, shows its recovery phrase and checks that it was written down. Password
 * and phrase are held by this view only, and dropped when it closes or the wallet locks. */
export function Create({ first }: { first: boolean }) {
	const { shell } = useConnection();
	const [made, setMade] = useState<NewWallet>();
	useEffect(() => made && dropWordsOnLock(shell, made, setMade), [made]);
	useEffect(() => {
		if (!made) return;
		const stay = (e: BeforeUnloadEvent) => e.preventDefault();
		addEventListener("beforeunload", stay);
		return () => removeEventListener("beforeunload", stay);
	}, [made]);
	if (!made) return <CreateForm first={first} onMade={setMade} />;
	if (made.words.length === 0) return <Unseen name={made.name} locked={made.locked ?? false} />;
	if (made.checking) return <WordsCheck words={made.words} onBack={() => setMade({ ...made, checking: false })} onDone={endSetup} />;
	return <WordsShown words={made.words} warning={made.warning} onWritten={() => setMade({ ...made, checking: true })} />;
}

function CreateForm({ first, onMade }: { first: boolean; onMade: (made: NewWallet) => void }) {
	const { shell } = useConnection();
	const [count, setCount] = useState(12);
	const making = useNewWallet("create", first, (act, given) => createWallet(shell, act, { ...given, words: count }), ({ wallet, words, warning }) =>
		onMade({ name: wallet.name, words: wordsOf(words ?? ""), warning, checking: false }),
	);
	return (
		<Screen title={t("create_title")} onBack={endSetup}>
			<p class="soft">{t(first ? "create_text" : "create_text_another")}</p>
			<Sandbox />
			<NewWalletForm making={making} act={t("create_wallet")}>
				<NameAndPassword making={making} />
				<WordCount value={count} onChange={setCount} />
			</NewWalletForm>
		</Screen>
	);
}

function WordCount({ value, onChange }: { value: number; onChange: (count: number) => void }) {
	return (
		<fieldset class="field" role="radiogroup">
			<legend class="label">{t("words_how_many")}</legend>
			<div class="row wide">
				{[12, 24].map((n) => (
					<label key={n} class="choice">
						<input type="radio" name="words" checked={value === n} onChange={() => onChange(n)} />
						{t("words_count", n)}
					</label>
				))}
			</div>
		</fieldset>
	);
}

/** Unseen is shown if the answer with the phrase was lost, or the wallet locked while it
 * was displayed. No later answer contains it. */
function Unseen({ name, locked }: { name: string; locked: boolean }) {
	const sandbox = useStore(useConnection().hello)?.sandbox;
	return (
		<Screen title={t(locked ? "unseen_locked_title" : "unseen_title")}>
			<p class="note warn">{t(locked ? "unseen_locked_text" : "unseen_text", name)}</p>
			{sandbox ? (
				<p>{t("unseen_sandbox")}</p>
			) : (
				<>
					<p>{t("unseen_export")}</p>
					<Command text={`swapkeep keys export words --of "${name.replace(/["\\$`]/g, "\\$&")}"`} label={t("unseen_copy")} />
				</>
			)}
			<Button kind="main" onClick={endSetup}>
				{t("continue")}
			</Button>
		</Screen>
	);
}
