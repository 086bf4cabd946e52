import type { ComponentChildren } from "preact";
import { useLayoutEffect, useId, useRef } from "preact/hooks";
import { t } from "../i18n/t";
import { Button } from "./Button";
import { Icon } from "./Icon";

interface Props {
	title: string;
	children: ComponentChildren;
	/** Escape, the cross and the backdrop close it. */
	onClose: () => void;
}

/** Modal holds the focus while it is open and gives it back at its end, as the
 * browser's own dialogs do. Its heading has the focus first, so that it is read. */
export function Modal({ title, children, onClose }: Props) {
	const dialog = useRef<HTMLDialogElement>(null);
	const heading = useRef<HTMLHeadingElement>(null);
	const id = useId();
	useLayoutEffect(() => {
		const shown = dialog.current!;
		shown.showModal();
		heading.current!.focus();
		return () => shown.close(); // which gives the focus back
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
