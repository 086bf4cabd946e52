import type { MessageKey } from "../../i18n/keys";
import type { ErrorName, ImportParams } from "../../wire/protocol";
import { isObject } from "../../wire/object";
import { wordCounts, wordsOf } from "./mnemonic";

/** What a wallet can be imported from. */
export type Source = "mnemonic" | "privateKey" | "keystore";

/** The input of each source. */
export interface Given {
	mnemonic: string;
	privateKey: string;
	keystore: string;
	keystorePassword: string;
}

export const nothingGiven: Given = { mnemonic: "", privateKey: "", keystore: "", keystorePassword: "" };

/** Maximum size of a key file in bytes (limits.maxSecret of the protocol). */
export const maxKeyFile = 4096;

/** The sources, with the text of each choice. */
export const sources: readonly { source: Source; choice: MessageKey }[] = [
	{ source: "mnemonic", choice: "import_words" },
	{ source: "privateKey", choice: "import_key" },
	{ source: "keystore", choice: "import_file" },
];

/** fieldsOf returns the keys.import parameters of a source, without the input of the others. */
export function fieldsOf(source: Source, given: Given): Partial<ImportParams> {
	switch (source) {
		case "mnemonic":
			return { mnemonic: wordsOf(given.mnemonic).join(" ") };
		case "privateKey":
			return { privateKey: given.privateKey.trim() };
		case "keystore":
			return { keystore: given.keystore, keystorePassword: given.keystorePassword };
	}
}

/** inputProblem returns what can be found wrong without the daemon; undefined if nothing. */
export function inputProblem(source: Source, given: Given): { field: keyof Given; key: MessageKey; value?: number } | undefined {
	switch (source) {
		case "mnemonic": {
			const count = wordsOf(given.mnemonic).length;
			return wordCounts.includes(count) ? undefined : { field: "mnemonic", key: "import_words_count", value: count };
		}
		case "privateKey":
			return /^(0x)?[0-9a-f]{64}$/i.test(given.privateKey.trim()) ? undefined : { field: "privateKey", key: "import_key_form" };
		case "keystore":
			return isKeyFile(given.keystore) ? undefined : { field: "keystore", key: "import_file_form" };
	}
}

function isKeyFile(text: string): boolean {
	if (new TextEncoder().encode(text).length > maxKeyFile) return false;
	try {
		const file: unknown = JSON.parse(text);
		return isObject(file) && !Array.isArray(file);
	} catch {
		return false;
	}
}

/** The field that a refusal is about; "source" stands for the source's main field. */
const refusalFields: Partial<Record<ErrorName, keyof Given | "source">> = {
	bad_mnemonic: "mnemonic",
	bad_private_key: "privateKey",
	bad_keystore: "keystore",
	keystore_password: "keystorePassword",
	published_test_key: "source",
	sandbox_only: "source",
	duplicate_wallet: "source",
};

/** fieldOf returns the field that a refusal is about; undefined if none. */
export function fieldOf(error: string, source: Source): keyof Given | undefined {
	const field = refusalFields[error as ErrorName];
	return field === "source" ? source : field;
}
