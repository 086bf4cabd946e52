import { t } from "../i18n/t";
import type { Failure } from "../wire/failure";
import { Field } from "../components/Field";
import { troubleOf } from "./troubles";

/** Failures that a password field tells of; all others stand beside the form. */
const own = ["wrong_password", "backing_off", "weak_password"] as const;

/** ofPassword: the password field says it. */
export function ofPassword(failure: Failure | undefined): boolean {
	return failure?.is(...own) ?? false;
}

interface Props {
	value: string;
	onInput: (value: string) => void;
	failure?: Failure | undefined;
	autoFocus?: boolean;
	hint?: string;
}

/** PasswordField asks for the vault's password. It does not count the seconds of a
 * wait: what changes by itself would be read out each time; the button counts. */
export function PasswordField({ value, onInput, failure, autoFocus = false, hint }: Props) {
	const wrong = failure?.is("backing_off") ? t("password_too_often") : failure && ofPassword(failure) ? troubleOf(failure) : undefined;
	return (
		<Field
			label={t("password")} type="password" autoComplete="current-password" value={value} onInput={onInput} autoFocus={autoFocus} hint={hint}
			wrong={wrong}
		/>
	);
}
