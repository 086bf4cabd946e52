import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../i18n/t";
import { back } from "../shell/route";
import { Button } from "./Button";
import { Icon } from "./Icon";

interface Props {
	title: string;
	children: ComponentChildren;
	/** What the back button does; without it there is no button. */
	onBack?: (() => void) | "back" | undefined;
	/** Next to the title. */
	aside?: ComponentChildren;
}

/** Screen is one page of the popup. Its heading gets the focus when it opens, so that
 * screen readers announce the page. */
export function Screen({ title, children, onBack, aside }: Props) {
	const heading = useRef<HTMLHeadingElement>(null);
	useLayoutEffect(() => {
		heading.current?.focus({ preventScroll: true });
		heading.current?.closest("main")?.scrollTo(0, 0); // not the previous screen's scroll position
	}, [title]);
	return (
		<section class="stack screen" aria-label={title}>
			<div class="row screen-head">
				{onBack && (
					<Button kind="icon" label={t("back")} onClick={onBack === "back" ? back : onBack}>
						<Icon name="back" />
					</Button>
				)}
				<h1 class="grow" ref={heading} tabIndex={-1}>
					{title}
				</h1>
				{aside}
			</div>
			{children}
		</section>
	);
}
