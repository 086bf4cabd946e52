import { useRef, useState } from "preact/hooks";
import { t } from "../../i18n/t";
import { useConnection } from "../../state/context";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { Screen } from "../../components/Screen";
import { failureText } from "../failure-text";
import { importWallet } from "./create-wallet";
import { NewWalletForm, NameAndPassword, useNewWallet } from "./NewWalletForm";
import { Sandbox } from "./Sandbox";
import { endSetup } from "./setup";
import { fieldOf, fieldsOf, type Given, inputProblem, maxKeyFile, nothingGiven, type Source, sources } from "./sources";

/** Import imports a wallet from a recovery phrase, a private key or a key file. The input
 * is held by this view only, and dropped once the daemon has it. */
export function Import({ first }: { first: boolean }) {
	const { shell } = useConnection();
	const [source, setSource] = useState<Source>("mnemonic");
	const [given, setGiven] = useState<Given>(nothingGiven);
	const making = useNewWallet("import", first, (act, common) => importWallet(shell, act, { ...fieldsOf(source, given), ...common }), () => {
		setGiven(nothingGiven);
		endSetup();
	});
	const { failure, tried, clear } = making;
	const lacks = inputProblem(source, given);

	/** wrong returns the error of one field. */
	function wrong(field: keyof Given): string | undefined {
		if (failure) return fieldOf(failure.name, source) === field ? failureText(failure) : undefined;
		return tried && lacks?.field === field ? t(lacks.key, lacks.value ?? "") : undefined;
	}
	const set = (field: keyof Given) => (value: string) => {
		if (failure && fieldOf(failure.name, source) === field) clear();
		setGiven({ ...given, [field]: value });
	};
	return (
		<Screen title={t("import_title")} onBack={endSetup}>
			<Sandbox />
			<NewWalletForm making={making} act={t("import_wallet")} ready={!lacks} said={(f) => fieldOf(f.name, source) !== undefined}>
				<SourceChoice
					value={source}
					onChange={(next) => {
						setSource(next);
						making.setTried(false);
						clear();
					}}
				/>
				{source === "mnemonic" && <Field label={t("import_words")} rows={3} value={given.mnemonic} onInput={set("mnemonic")} wrong={wrong("mnemonic")} hint={t("import_words_hint")} />}
				{source === "privateKey" && <Field label={t("import_key")} type="password" value={given.privateKey} onInput={set("privateKey")} wrong={wrong("privateKey")} hint={t("import_key_hint")} />}
				{source === "keystore" && <KeyFile given={given} set={set} wrong={wrong} />}
				<NameAndPassword making={making} />
			</NewWalletForm>
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

/** KeyFile is a file or its text, with the file's password. */
function KeyFile({ given, set, wrong }: KeyFileProps) {
	const input = useRef<HTMLInputElement>(null);
	async function read(file: File | undefined) {
		// Reads one byte more than allowed, so that a larger file is refused.
		if (file) set("keystore")(await file.slice(0, maxKeyFile + 1).text());
		if (input.current) input.current.value = ""; // so that the same file can be chosen again
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
