import { useRef, useState } from "preact/hooks";
import { t } from "../../i18n/t";
import { useWallet } from "../../state/context";
import { useAct } from "../../order/useAct";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { Refusal } from "../../components/Refusal";
import { Screen } from "../../components/Screen";
import { ofPassword } from "../PasswordField";
import { lostAnswer, troubleOf } from "../troubles";
import { useWait } from "../useWait";
import { type Act, newAct, openWith, take } from "./make";
import { nameTooLong } from "./name";
import { missing, NewPassword } from "./NewPassword";
import { Sandbox } from "./Onboarding";
import { endSetup, settingUp } from "./settingUp";
import { fieldOf, fieldsOf, type Given, lackOf, maxKeyFile, nothingGiven, type Source, sources } from "./sources";

/** Import takes a wallet in from words, a private key or a key file. What is typed is
 * in this view alone, and gone once the daemon has it. */
export function Import({ first }: { first: boolean }) {
	const wallet = useWallet();
	const { shell, keys } = wallet;
	const [source, setSource] = useState<Source>("mnemonic");
	const [given, setGiven] = useState<Given>(nothingGiven);
	const [passwords, setPasswords] = useState({ password: "", repeat: "" });
	const [name, setName] = useState("");
	const [tried, setTried] = useState(false);
	const act = useRef<Act | undefined>(undefined);
	const make = useAct(async () => {
		const { password } = passwords;
		settingUp.set({ stage: "held", way: "import" });
		act.current = act.current?.unanswered ? act.current : newAct(keys.get()?.wallets ?? [], act.current);
		try {
			await take(shell, act.current, { ...fieldsOf(source, given), password, ...(name.trim() ? { name: name.trim() } : {}) });
			await openWith(wallet, password);
			setGiven(nothingGiven);
			setPasswords({ password: "", repeat: "" });
			endSetup();
		} catch (thrown) {
			if (!act.current.unanswered) settingUp.set({ stage: "open", way: "import" });
			throw thrown;
		}
	});
	const { busy, failure, clear } = make;
	const { wait, shown } = useWait(failure);

	function submit() {
		setTried(true);
		const lacks = lackOf(source, given) ?? (first ? missing(passwords) : undefined);
		if (!lacks && passwords.password && !nameTooLong(name) && wait === 0) void make.run();
	}
	const changed = () => {
		if (act.current?.unanswered) act.current = newAct([], act.current);
	};
	/** What is wrong with a field of the source. */
	function wrong(field: keyof Given): string | undefined {
		if (failure) return fieldOf(failure.name, source) === field ? troubleOf(failure) : undefined;
		const lacks = tried ? lackOf(source, given) : undefined;
		return lacks?.field === field ? t(lacks.key, lacks.value ?? "") : undefined;
	}
	const set = (field: keyof Given) => (value: string) => {
		if (failure && fieldOf(failure.name, source) === field) clear();
		setGiven({ ...given, [field]: value });
	};
	return (
		<Screen title={t("import_title")} onBack={endSetup}>
			<Sandbox />
			<form
				class="stack" onInput={changed}
				onSubmit={(e) => {
					e.preventDefault();
					submit();
				}}
			>
				<SourceChoice
					value={source}
					onChange={(next) => {
						setSource(next);
						setTried(false);
						clear();
					}}
				/>
				{source === "mnemonic" && <Field label={t("import_words")} rows={3} value={given.mnemonic} onInput={set("mnemonic")} wrong={wrong("mnemonic")} hint={t("import_words_hint")} />}
				{source === "privateKey" && <Field label={t("import_key")} type="password" value={given.privateKey} onInput={set("privateKey")} wrong={wrong("privateKey")} hint={t("import_key_hint")} />}
				{source === "keystore" && <KeyFile given={given} set={set} wrong={wrong} />}
				<Field label={t("wallet_name")} value={name} onInput={setName} hint={t("wallet_name_hint")} wrong={nameTooLong(name) ? t("name_too_long") : undefined} />
				<NewPassword first={first} value={passwords} onInput={setPasswords} tried={tried} failure={shown} onChange={clear} />
				{failure && !ofPassword(failure) && !fieldOf(failure.name, source) && <Refusal failure={failure} />}
				<Button kind="main" submit busy={busy} disabled={wait > 0}>
					{wait > 0 ? t("wait_seconds", wait) : failure && lostAnswer(failure) ? t("try_again") : t("import_wallet")}
				</Button>
			</form>
			{source === "mnemonic" && <p class="soft small">{t("import_discovery")}</p>}
		</Screen>
	);
}

function SourceChoice({ value, onChange }: { value: Source; onChange: (source: Source) => void }) {
	return (
		<fieldset class="field" role="radiogroup">
			<legend class="label">{t("import_what")}</legend>
			<div class="stack tight">
				{sources.map(({ source, choice }) => (
					<label key={source} class="choice">
						<input type="radio" name="source" checked={value === source} onChange={() => onChange(source)} />
						{t(choice)}
					</label>
				))}
			</div>
		</fieldset>
	);
}

interface KeyFileProps {
	given: Given;
	set: (field: keyof Given) => (value: string) => void;
	wrong: (field: keyof Given) => string | undefined;
}

/** KeyFile is a file chosen or its text, and the password that it was made with. */
function KeyFile({ given, set, wrong }: KeyFileProps) {
	const input = useRef<HTMLInputElement>(null);
	async function read(file: File | undefined) {
		// A larger one is no key file, and is said to be none.
		if (file) set("keystore")(await file.slice(0, maxKeyFile + 1).text());
	}
	return (
		<>
			<Field label={t("import_file_text")} rows={3} value={given.keystore} onInput={set("keystore")} wrong={wrong("keystore")} hint={t("import_file_hint")} />
			<input class="hidden" type="file" tabIndex={-1} aria-hidden="true" accept="application/json,.json" ref={input} onChange={(e) => void read(e.currentTarget.files?.[0])} />
			<Button onClick={() => input.current?.click()}>{t("import_file_choose")}</Button>
			<Field label={t("import_file_password")} type="password" value={given.keystorePassword} onInput={set("keystorePassword")} wrong={wrong("keystorePassword")} />
		</>
	);
}
