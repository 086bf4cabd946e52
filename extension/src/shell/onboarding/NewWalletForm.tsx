import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { t } from "../../i18n/t";
import { useConnection } from "../../state/context";
import { useAct } from "../../order/useAct";
import type { Failure } from "../../wire/failure";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { Refusal } from "../../components/Refusal";
import { shownByPasswordField } from "../PasswordField";
import { answerLost } from "../failure-text";
import { usePasswordWait } from "../usePasswordWait";
import { type Act, newAct, unlockWith } from "./create-wallet";
import { nameTooLong } from "./name";
import { passwordProblem, NewPassword, type Passwords } from "./NewPassword";
import { currentSetup, type SetupMethod } from "./setup";

/** NewWalletState is the part of the form that create and import share: name, vault password and
 * the act. The input is held by the view only, and dropped once the daemon has it. */
export interface NewWalletState {
	/** It is the vault's first wallet, so the password is set here. */
	first: boolean;
	name: string;
	setName(name: string): void;
	passwords: Passwords;
	setPasswords(passwords: Passwords): void;
	/** The form was submitted, so missing input is pointed out. */
	tried: boolean;
	setTried(tried: boolean): void;
	busy: boolean;
	failure: Failure | undefined;
	/** Seconds until a password is accepted again, after too many wrong ones. */
	wait: number;
	/** The failure still to be shown. */
	shown: Failure | undefined;
	clear(): void;
	/** run makes the wallet, unless input of this part is missing. */
	run(): void;
	/** changed must be called when the input changes: the next run is then another act. */
	changed(): void;
}

interface Given {
	password: string;
	name?: string;
}

const noPasswords: Passwords = { password: "", repeat: "" };

/** useNewWallet makes a wallet with `make`, unlocks it and passes the result to onMade. */
export function useNewWallet<T>(way: SetupMethod, first: boolean, make: (act: Act, given: Given) => Promise<T>, onMade: (made: T) => void): NewWalletState {
	const connection = useConnection();
	const [passwords, setPasswords] = useState(noPasswords);
	const [name, setName] = useState("");
	const [tried, setTried] = useState(false);
	const last = useRef<Act | undefined>(undefined);
	const { busy, failure, run, clear } = useAct(async () => {
		const { password } = passwords;
		currentSetup.set({ stage: "held", way });
		const act = last.current?.unanswered ? last.current : newAct(connection.keys.get()?.wallets ?? []);
		last.current = act;
		try {
			const made = await make(act, { password, ...(name.trim() ? { name: name.trim() } : {}) });
			await unlockWith(connection, password);
			setPasswords(noPasswords);
			onMade(made);
		} catch (thrown) {
			if (!act.unanswered) currentSetup.set({ stage: "open", way });
			throw thrown;
		}
	});
	const { wait, shown } = usePasswordWait(failure);
	const ready = passwords.password && !(first && passwordProblem(passwords)) && !nameTooLong(name) && wait === 0;
	return {
		first, name, setName, passwords, setPasswords, tried, setTried, busy, failure, wait, shown, clear,
		run: () => void (ready && run()),
		changed: () => void (last.current?.unanswered && (last.current = newAct([], last.current))),
	};
}

interface Props {
	making: NewWalletState;
	/** Label of the button. */
	act: string;
	/** The source of the wallet is filled in. */
	ready?: boolean;
	/** Reports whether a field shows this failure. */
	said?: (failure: Failure) => boolean;
	children: ComponentChildren;
}

/** NewWalletForm is the form around the fields, with its button. */
export function NewWalletForm({ making, act, ready = true, said = () => false, children }: Props) {
	const { busy, failure, wait } = making;
	return (
		<form
			class="stack" onInput={making.changed}
			onSubmit={(e) => {
				e.preventDefault();
				making.setTried(true);
				if (ready) making.run();
			}}
		>
			{children}
			{failure && !shownByPasswordField(failure) && !said(failure) && <Refusal failure={failure} />}
			<Button kind="main" submit busy={busy} disabled={wait > 0}>
				{wait > 0 ? t("wait_seconds", wait) : failure && answerLost(failure) ? t("try_again") : act}
			</Button>
		</form>
	);
}

/** NameAndPassword are the fields that every wallet needs. */
export function NameAndPassword({ making: { first, name, setName, passwords, setPasswords, tried, shown, clear } }: { making: NewWalletState }) {
	return (
		<>
			<Field label={t("wallet_name")} value={name} onInput={setName} hint={t("wallet_name_hint")} wrong={nameTooLong(name) ? t("name_too_long") : undefined} />
			<NewPassword first={first} value={passwords} onInput={setPasswords} tried={tried} failure={shown} onChange={clear} />
		</>
	);
}
