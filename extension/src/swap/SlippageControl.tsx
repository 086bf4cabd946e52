import { useState } from "preact/hooks";
import { Button } from "../components/Button";
import { Field } from "../components/Field";
import { Icon } from "../components/Icon";
import { Modal } from "../components/Modal";
import { t } from "../i18n/t";
import { percent } from "../money/percent";
import { readSlippage, slippageWarning } from "./slippage";

const presets = [0.1, 0.5, 1];

interface Props {
	/** Percent. */
	value: number;
	onChange: (value: number) => void;
}

/** SlippageControl sets how much less than quoted the user accepts, for all panels. */
export function SlippageControl({ value, onChange }: Props) {
	const [open, setOpen] = useState(false);
	const warning = slippageWarning(value);
	return (
		<>
			<button type="button" class={`chip ${warning ? "warned" : ""}`} aria-label={t("slippage_is", percent(value))} onClick={() => setOpen(true)}>
				{warning ? <Icon name="warn" size={16} /> : <span aria-hidden="true">±</span>}
				<span class="number">{percent(value)}</span>
			</button>
			{open && <SlippageModal value={value} onChange={onChange} onClose={() => setOpen(false)} />}
		</>
	);
}

function SlippageModal({ value, onChange, onClose }: Props & { onClose: () => void }) {
	const [typed, type] = useState(String(value));
	const read = readSlippage(typed);
	const warning = read !== undefined ? slippageWarning(read) : undefined;
	const take = (slippage: number) => {
		onChange(slippage);
		onClose();
	};
	return (
		<Modal title={t("slippage")} onClose={onClose}>
			<p class="soft">{t("slippage_means")}</p>
			<div class="row">
				{presets.map((p) => (
					<Button key={p} onClick={() => take(p)}>
						{percent(p)}
					</Button>
				))}
			</div>
			<form
				class="stack"
				onSubmit={(e) => {
					e.preventDefault();
					if (read !== undefined) take(read);
				}}
			>
				<Field label={t("slippage_own")} value={typed} onInput={type} inputMode="decimal" wrong={read === undefined ? t("slippage_bounds") : undefined} />
				{warning && (
					<p class="note warn" role="status">
						{t(warning)}
					</p>
				)}
				<Button kind="main" submit disabled={read === undefined}>
					{t("slippage_take")}
				</Button>
			</form>
		</Modal>
	);
}
