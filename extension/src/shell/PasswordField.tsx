import { t } from "../i18n/t";
import type { Failure } from "../wire/failure";
import { Field } from "../components/Field";
import { failureText } from "./failure-text";

/** Failures that the password field shows; all others are shown next to the form. */
const own = ["wrong_password", "backing_off", "weak_password"] as const;

/** shownByPasswordField reports whether the password field shows a failure. */
export function shownByPasswordField(failure: Failure | undefined): boolean {
	return failure?.is(...own) ?? false;
}

interface Props {
	value: string;
	onInput: (value: string) => void;
	failure?: Failure | undefined;
	autoFocus?: boolean;
	hint?: string;
}

/** PasswordField asks for the vault password. During a wait it does not count down, as each
 * change would be read out by screen readers; the button does. */
export function PasswordField({ value, onInput, failure, autoFocus = false, hint }: Props) {
	const wrong = failure?.is("backing_off") ? t("password_too_often") : failure && shownByPasswordField(failure) ? failureText(failure) : undefined;
	return (
		<Field
			label={t("password")} type="password" autoComplete="current-password" value={value} onInput={onInput} autoFocus={autoFocus} hint={hint}
			wrong={wrong}
		/>
	);
}
