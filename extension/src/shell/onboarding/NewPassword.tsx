import { t } from "../../i18n/t";
import type { Failure } from "../../wire/failure";
import { Field } from "../../components/Field";
import { shownByPasswordField, PasswordField } from "../PasswordField";
import { failureText } from "../failure-text";
import { minPassword, strength } from "./strength";

export interface Passwords {
	password: string;
	repeat: string;
}

/** passwordProblem returns what is wrong with a new password; undefined if nothing. */
export function passwordProblem({ password, repeat }: Passwords): "password_short" | "password_differs" | undefined {
	if ([...password].length < minPassword) return "password_short";
	return password === repeat ? undefined : "password_differs";
}

interface Props {
	/** The first wallet sets the vault password; later ones take the same. */
	first: boolean;
	value: Passwords;
	onInput: (value: Passwords) => void;
	/** The form was submitted, so missing input is pointed out. */
	tried: boolean;
	failure: Failure | undefined;
	/** Called when a refused password is changed, as the failure no longer applies. */
	onChange: () => void;
}

/** NewPassword asks for the vault password, twice for a new one. */
export function NewPassword({ first, value, onInput, tried, failure, onChange }: Props) {
	const setPassword = (password: string) => {
		if (shownByPasswordField(failure)) onChange();
		onInput({ ...value, password });
	};
	if (!first) return <PasswordField value={value.password} onInput={setPassword} failure={failure} hint={t("password_same")} />;
	const level = strength(value.password);
	const lacks = tried ? passwordProblem(value) : undefined;
	const wrong = failure && shownByPasswordField(failure) ? failureText(failure) : lacks === "password_short" ? t("password_short", minPassword) : undefined;
	return (
		<>
			<div class="stack tight">
				<Field
					label={t("password")} type="password" autoComplete="new-password" value={value.password} onInput={setPassword} wrong={wrong}
					hint={value.password ? t(`strength_${level}`, minPassword) : t("password_hint", minPassword)}
				/>
				<div class={`strength ${value.password ? level : "none"}`} aria-hidden="true">
					<span />
					<span />
					<span />
				</div>
			</div>
			<Field
				label={t("password_repeat")} type="password" autoComplete="new-password" value={value.repeat} onInput={(repeat) => onInput({ ...value, repeat })}
				wrong={lacks === "password_differs" ? t("password_differs") : undefined}
			/>
		</>
	);
}
