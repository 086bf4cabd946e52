import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n/t";
import { useAct } from "../order/useAct";
import type { Failure } from "../wire/failure";
import { Button } from "../components/Button";
import { Modal } from "../components/Modal";
import { Refusal } from "../components/Refusal";
import { shownByPasswordField, PasswordField } from "./PasswordField";
import { usePasswordWait } from "./usePasswordWait";

interface Props {
	title: string;
	children?: ComponentChildren;
	/** Label of the button. */
	act: string;
	critical?: boolean;
	/** The act takes the vault password, each time. */
	asksPassword?: boolean;
	/** Runs the act. The password is "" without asksPassword; `request` is the act's uuid. */
	onAct: (password: string, request: string) => Promise<unknown>;
	onClose: () => void;
	/** What to show below a refusal. */
	remedy?: (failure: Failure) => ComponentChildren;
	/** Everything else that the act needs is filled in. */
	ready?: boolean;
}

/** ActModal is a dialog that runs one act and closes when it succeeded. The password is
 * cleared when submitted. */
export function ActModal({ title, children, act, critical = false, asksPassword = false, onAct, onClose, remedy, ready = true }: Props) {
	const [password, setPassword] = useState("");
	const form = useRef<HTMLFormElement>(null);
	const { busy, failure, run } = useAct(async (request, given: string) => {
		await onAct(given, request);
		onClose();
	});
	const { wait, shown } = usePasswordWait(failure);
	useEffect(() => {
		if (failure) form.current?.querySelector<HTMLInputElement>("input[type=password]")?.focus();
	}, [failure]);
	const off = !ready || wait > 0 || (asksPassword && !password);
	function submit() {
		if (off || busy) return;
		void run(password);
		setPassword("");
	}
	return (
		<Modal title={title} onClose={onClose}>
			<form
				class="stack" ref={form}
				onSubmit={(e) => {
					e.preventDefault();
					submit();
				}}
			>
				{children}
				{asksPassword && <PasswordField value={password} onInput={setPassword} failure={shown} />}
				{failure && !shownByPasswordField(failure) && <Refusal failure={failure} />}
				{failure && remedy?.(failure)}
				<Button kind={critical ? "main critical" : "main"} submit busy={busy} disabled={off}>
					{wait > 0 ? t("wait_seconds", wait) : act}
				</Button>
			</form>
		</Modal>
	);
}
