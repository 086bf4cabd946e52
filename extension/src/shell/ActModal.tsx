import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../i18n/t";
import { useAct } from "../order/useAct";
import type { Failure } from "../wire/failure";
import { Button } from "../components/Button";
import { Modal } from "../components/Modal";
import { Refusal } from "../components/Refusal";
import { ofPassword, PasswordField } from "./PasswordField";
import { useWait } from "./useWait";

interface Props {
	title: string;
	children?: ComponentChildren;
	/** What the button says. */
	act: string;
	critical?: boolean;
	/** It takes the vault's password, each time. */
	asksPassword?: boolean;
	/** Does it; the password is "" unless it is asked for. The uuid is for acts that
	 * carry one. */
	onAct: (password: string, request: string) => Promise<unknown>;
	onClose: () => void;
	/** What to do about a refusal. */
	remedy?: (failure: Failure) => ComponentChildren;
	/** What else it takes is there. */
	ready?: boolean;
}

/** ActModal asks for what one act takes, does it, and closes once it is done. A
 * password is handed on and forgotten. */
export function ActModal({ title, children, act, critical = false, asksPassword = false, onAct, onClose, remedy, ready = true }: Props) {
	const [password, setPassword] = useState("");
	const form = useRef<HTMLFormElement>(null);
	const { busy, failure, run } = useAct(async (request, given: string) => {
		await onAct(given, request);
		onClose();
	});
	const { wait, shown } = useWait(failure);
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
				{failure && !ofPassword(failure) && <Refusal failure={failure} />}
				{failure && remedy?.(failure)}
				<Button kind={critical ? "main critical" : "main"} submit busy={busy} disabled={off}>
					{wait > 0 ? t("wait_seconds", wait) : act}
				</Button>
			</form>
		</Modal>
	);
}
