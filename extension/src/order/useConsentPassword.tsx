import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { known, t } from "../i18n/t";
import { PasswordField } from "../shell/PasswordField";
import { useWait } from "../shell/useWait";
import type { Failure } from "../wire/failure";

/** What an act asks for besides a press. */
export interface ConsentPassword {
	/** The field and why it is there; undefined while the session is enough. */
	field: ComponentChildren;
	/** What is asked for is there. */
	ready: boolean;
	/** take hands the password on, once, and forgets it. */
	take(): { password?: string };
	/** shown is a failure that the field does not tell of itself. */
	shown: Failure | undefined;
}

/** reasonsOf are why a refusal asks for the password. */
export function reasonsOf(failure: Failure | undefined): readonly string[] {
	return failure?.is("consent_password") ? (failure.details["reasons"] ?? "").split(",").filter(Boolean) : [];
}

/** useConsentPassword asks for the vault's password where an act takes it: where the
 * review says so, or the act was refused without. */
export function useConsentPassword(failure: Failure | undefined, told: readonly string[] = []): ConsentPassword {
	const [password, setPassword] = useState("");
	const [refused, setRefused] = useState<readonly string[]>();
	useEffect(() => {
		if (failure?.is("consent_password")) setRefused(reasonsOf(failure));
	}, [failure]);
	const { wait, shown } = useWait(failure);
	const reasons = refused ?? told;
	const wanted = refused !== undefined || told.length > 0;
	const own = failure?.is("consent_password", "wrong_password", "backing_off") ?? false;
	return {
		field: wanted && (
			<div class="stack tight">
				{reasons.map((reason) => (
					<p key={reason} class="small">
						{known(`consent_password_${reason}`) ?? t("consent_password")}
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
