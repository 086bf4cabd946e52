import type { ComponentChildren } from "preact";
import { useLayoutEffect, useId, useRef } from "preact/hooks";
import { t } from "../i18n/t";
import { Button } from "./Button";
import { Icon } from "./Icon";

interface Props {
	title: string;
	children: ComponentChildren;
	/** Called for Escape, the close button and a click on the backdrop. */
	onClose: () => void;
}

/** Modal is a native dialog, which traps the focus and gives it back when closed. Its
 * heading is focused first, so that screen readers read it. */
export function Modal({ title, children, onClose }: Props) {
	const dialog = useRef<HTMLDialogElement>(null);
	const heading = useRef<HTMLHeadingElement>(null);
	const id = useId();
	useLayoutEffect(() => {
		const shown = dialog.current!;
		shown.showModal();
		heading.current!.focus();
		return () => shown.close(); // gives the focus back
	}, []);
	return (
		<dialog
			ref={dialog}
			class="modal"
			aria-labelledby={id}
			onCancel={(e) => {
				e.preventDefault();
				onClose();
			}}
			onClick={(e) => e.target === dialog.current && onClose()}
		>
			<div class="stack">
				<div class="row apart">
					<h2 id={id} ref={heading} tabIndex={-1}>
						{title}
					</h2>
					<Button kind="icon" label={t("close")} onClick={onClose}>
						<Icon name="close" />
					</Button>
				</div>
				{children}
			</div>
		</dialog>
	);
}
