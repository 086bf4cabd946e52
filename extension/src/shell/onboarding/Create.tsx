import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../../i18n/t";
import { useWallet } from "../../state/context";
import { useStore } from "../../state/store";
import { useAct } from "../../order/useAct";
import { Button } from "../../components/Button";
import { Command } from "../../components/Command";
import { Field } from "../../components/Field";
import { Refusal } from "../../components/Refusal";
import { Screen } from "../../components/Screen";
import { ofPassword } from "../PasswordField";
import { lostAnswer } from "../troubles";
import { useWait } from "../useWait";
import { type Act, create, newAct, openWith } from "./make";
import { missing, NewPassword } from "./NewPassword";
import { Sandbox } from "./Onboarding";
import { nameTooLong } from "./name";
import { endSetup, settingUp } from "./settingUp";
import { WordsCheck, WordsShown } from "./Words";
import { wordsOf } from "./mnemonic";

/** What was made: its words, once, or a wallet whose words nobody has seen. */
interface Made {
	name: string;
	words: readonly string[];
	warning: string | undefined;
	checking: boolean;
}

/** Create makes a wallet, shows its words and has them checked. Password and words
 * are in this view alone, and gone with it. */
export function Create({ first }: { first: boolean }) {
	const [made, setMade] = useState<Made>();
	useEffect(() => {
		if (!made) return;
		const stay = (e: BeforeUnloadEvent) => e.preventDefault();
		addEventListener("beforeunload", stay);
		return () => removeEventListener("beforeunload", stay);
	}, [made]);
	if (!made) return <CreateForm first={first} onMade={setMade} />;
	if (made.words.length === 0) return <Unseen name={made.name} />;
	if (made.checking) return <WordsCheck words={made.words} onBack={() => setMade({ ...made, checking: false })} onDone={endSetup} />;
	return <WordsShown words={made.words} warning={made.warning} onWritten={() => setMade({ ...made, checking: true })} />;
}

function CreateForm({ first, onMade }: { first: boolean; onMade: (made: Made) => void }) {
	const wallet = useWallet();
	const { shell, keys } = wallet;
	const [passwords, setPasswords] = useState({ password: "", repeat: "" });
	const [name, setName] = useState("");
	const [count, setCount] = useState(12);
	const [tried, setTried] = useState(false);
	const act = useRef<Act | undefined>(undefined);
	const make = useAct(async () => {
		const { password } = passwords;
		settingUp.set({ stage: "held", way: "create" });
		act.current = act.current?.unanswered ? act.current : newAct(keys.get()?.wallets ?? [], act.current);
		try {
			const result = await create(shell, act.current, { password, words: count, ...(name.trim() ? { name: name.trim() } : {}) });
			await openWith(wallet, password);
			setPasswords({ password: "", repeat: "" });
			onMade({ name: result.wallet.name, words: wordsOf(result.words ?? ""), warning: result.warning, checking: false });
		} catch (thrown) {
			if (!act.current.unanswered) settingUp.set({ stage: "open", way: "create" });
			throw thrown;
		}
	});
	const { busy, failure } = make;
	const { wait, shown } = useWait(failure);
	const lacks = first ? missing(passwords) : undefined;

	function submit() {
		setTried(true);
		if (!lacks && passwords.password && !nameTooLong(name) && wait === 0) void make.run();
	}
	const changed = () => {
		if (act.current?.unanswered) act.current = newAct([], act.current);
	};
	return (
		<Screen title={t("create_title")} onBack={endSetup}>
			<p class="soft">{t(first ? "create_text" : "create_text_another")}</p>
			<Sandbox />
			<form
				class="stack" onInput={changed}
				onSubmit={(e) => {
					e.preventDefault();
					submit();
				}}
			>
				<Field label={t("wallet_name")} value={name} onInput={setName} hint={t("wallet_name_hint")} wrong={nameTooLong(name) ? t("name_too_long") : undefined} />
				<NewPassword first={first} value={passwords} onInput={setPasswords} tried={tried} failure={shown} onChange={make.clear} />
				<WordCount value={count} onChange={setCount} />
				{failure && !ofPassword(failure) && <Refusal failure={failure} />}
				<Button kind="main" submit busy={busy} disabled={wait > 0}>
					{wait > 0 ? t("wait_seconds", wait) : failure && lostAnswer(failure) ? t("try_again") : t("create_wallet")}
				</Button>
			</form>
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

/** Unseen: the answer with the words was lost, and no answer holds them again. */
function Unseen({ name }: { name: string }) {
	const sandbox = useStore(useWallet().hello)?.sandbox;
	return (
		<Screen title={t("unseen_title")}>
			<p class="note warn">{t("unseen_text", name)}</p>
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
