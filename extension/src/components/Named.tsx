import type { ComponentChildren } from "preact";

/** Named is the content of a control that is called something else than it shows: the
 * name for those who hear it, the picture and short text for those who see it. */
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
