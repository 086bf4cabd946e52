import type { ComponentChildren } from "preact";

/** Named is the content of a control whose accessible name differs from what it shows:
 * `name` for screen readers, the children for sight. */
export function Named({ name, children }: { name: string; children: ComponentChildren }) {
	return (
		<>
			<span class="hidden">{name}</span>
			<span class="named-view" aria-hidden="true">
				{children}
			</span>
		</>
	);
}
