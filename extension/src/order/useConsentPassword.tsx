import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { optionalMessage, t } from "../i18n/t";
import { PasswordField } from "../shell/PasswordField";
import { usePasswordWait } from "../shell/usePasswordWait";
import type { Failure } from "../wire/failure";

/** ConsentPassword is the password field of an act. */
export interface ConsentPassword {
	/** The field, with the reasons for it; false or undefined while the session is enough. */
	field: ComponentChildren;
	/** The act can be run: a password was typed, or none is needed. */
	ready: boolean;
	/** take returns the password once and forgets it. */
	take(): { password?: string };
	/** The failure to show; undefined if the field shows it itself. */
	shown: Failure | undefined;
}

/** reasonsOf returns why a refused act needs the password. */
export function reasonsOf(failure: Failure | undefined): readonly string[] {
	return failure?.is("consent_password") ? (failure.details["reasons"] ?? "").split(",").filter(Boolean) : [];
}

/** useConsentPassword asks for the vault password where an act needs it: because the review
 * says so (`required`), or because the act was refused without it. */
export function useConsentPassword(failure: Failure | undefined, required: readonly string[] = []): ConsentPassword {
	const [password, setPassword] = useState("");
	const [refused, setRefused] = useState<readonly string[]>();
	useEffect(() => {
		if (failure?.is("consent_password")) setRefused(reasonsOf(failure));
	}, [failure]);
	const { wait, shown } = usePasswordWait(failure);
	const reasons = refused ?? required;
	const wanted = refused !== undefined || required.length > 0;
	const own = failure?.is("consent_password", "wrong_password", "backing_off") ?? false;
	return {
		field: wanted && (
			<div class="stack tight">
				{reasons.map((reason) => (
					<p key={reason} class="small">
						{optionalMessage(`consent_password_${reason}`) ?? t("consent_password")}
					</p>
				))}
				<PasswordField value={password} onInput={setPassword} failure={shown} />
				{wait > 0 && <p class="small soft">{t("wait_seconds", wait)}</p>}
			</div>
		),
		ready: !wanted || (password !== "" && wait === 0),
		take() {
			setPassword("");
			return password ? { password } : {};
		},
		shown: own && wanted ? undefined : failure,
	};
}
