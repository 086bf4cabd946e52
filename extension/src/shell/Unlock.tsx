import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { providerName } from "../i18n/provider-name";
import { t } from "../i18n/t";
import { formatTime } from "../i18n/time";
import { useAct } from "../order/useAct";
import { useConnection, useOrders } from "../state/context";
import { useStore } from "../state/store";
import type { Order } from "../wire/protocol";
import { Button } from "../components/Button";
import { Logo } from "../components/Logo";
import { Refusal } from "../components/Refusal";
import { autoLocked } from "./autoLocked";
import { shownByPasswordField, PasswordField } from "./PasswordField";
import { usePasswordWait } from "./usePasswordWait";

/** Unlock asks for the password. The field keeps the focus after a failure. */
export default function Unlock() {
	const { shell, keys } = useConnection();
	const { orders } = useOrders();
	const idle = useStore(autoLocked);
	const open = useStore(orders, (all) => all.filter((o) => !o.ended));
	const [password, setPassword] = useState("");
	const form = useRef<HTMLFormElement>(null);
	const { busy, failure, run } = useAct(async (_request, given: string) => keys.set(await shell.call("keys.unlock", { password: given })));
	const { wait, shown } = usePasswordWait(failure);
	useLayoutEffect(() => form.current?.querySelector("input")?.focus(), [failure]);
	function submit() {
		if (!password || busy || wait > 0) return;
		void run(password);
		setPassword("");
	}
	return (
		<section class="stack wide unlock" aria-label={t("unlock_title")}>
			<div class="stack tight">
				<Logo />
				<h1>{t("unlock_title")}</h1>
				<p class="soft">{t(idle ? "unlock_idle" : "unlock_text")}</p>
			</div>
			<form
				class="stack" ref={form}
				onSubmit={(e) => {
					e.preventDefault();
					submit();
				}}
			>
				<PasswordField value={password} onInput={setPassword} failure={shown} />
				{failure && !shownByPasswordField(failure) && <Refusal failure={failure} />}
				<Button kind="main" submit busy={busy} disabled={!password || wait > 0}>
					{wait > 0 ? t("wait_seconds", wait) : t("unlock")}
				</Button>
			</form>
			<Waiting orders={open} />
		</section>
	);
}

/** Waiting lists the open orders that wait for an unlock, and counts the others. */
function Waiting({ orders }: { orders: readonly Order[] }) {
	const waiting = orders.filter((o) => o.condition === "waiting_unlock");
	const others = orders.length - waiting.length;
	if (orders.length === 0) return null;
	return (
		<section class="card stack tight" aria-label={t("unlock_orders")}>
			{waiting.length > 0 && <h2>{waiting.length === 1 ? t("unlock_waiting_one") : t("unlock_waiting", waiting.length)}</h2>}
			{waiting.length > 0 && (
				<ul class="stack tight">
					{waiting.map((o) => (
						<li key={o.id} class="row apart small">
							<span>{providerName(o.terms.provider)}</span>
							<span class="soft">{formatTime(o.created, "whole")}</span>
						</li>
					))}
				</ul>
			)}
			{others > 0 && <p class="soft small">{others === 1 ? t("unlock_going_one") : t("unlock_going", others)}</p>}
		</section>
	);
}
