import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { t } from "../i18n/t";
import { back } from "../shell/route";
import { Button } from "./Button";
import { Icon } from "./Icon";

interface Props {
	title: string;
	children: ComponentChildren;
	/** Where the arrow leads; without it there is none. */
	onBack?: (() => void) | "back" | undefined;
	/** Beside the title. */
	aside?: ComponentChildren;
}

/** Screen is one page of the popup. Its heading takes the focus when it opens, so
 * that a reader hears where it is. */
export function Screen({ title, children, onBack, aside }: Props) {
	const heading = useRef<HTMLHeadingElement>(null);
	useLayoutEffect(() => {
		heading.current?.focus({ preventScroll: true });
		heading.current?.closest("main")?.scrollTo(0, 0); // not where the screen before was scrolled to
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
