import { useState } from "preact/hooks";
import { t } from "../../i18n/t";
import { useConnection } from "../../state/context";
import { Field } from "../../components/Field";
import { ActModal } from "../ActModal";
import { nameTooLong } from "../onboarding/name";

/** Renamed is a wallet (by id) or an account (by address), with its present name. */
export type Renamed = ({ wallet: string } | { account: string }) & { name: string };

/** Rename renames a wallet or an account. With an empty name an account gets its number back. */
export function Rename({ what, onClose }: { what: Renamed; onClose: () => void }) {
	const { shell } = useConnection();
	const [name, setName] = useState(what.name);
	const { name: _, ...of } = what;
	const account = "account" in what;
	const long = nameTooLong(name);
	return (
		<ActModal
			title={t(account ? "rename_account" : "rename_wallet")} act={t("save")} onClose={onClose} ready={!long && (account || name.trim() !== "")}
			onAct={(_password, request) => shell.call("keys.rename", { request, ...of, name: name.trim() })}
		>
			<Field label={t("rename_name")} value={name} onInput={setName} wrong={long ? t("name_too_long") : undefined} hint={account ? t("rename_empty") : undefined} />
		</ActModal>
	);
}
