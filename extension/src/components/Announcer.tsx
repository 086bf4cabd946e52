import { store, useStore } from "../state/store";

const said = store("");

/** announce queues a sentence for screen readers, after what they are reading. */
export function announce(text: string): void {
	// A live region reports changes only, so a repeated text gets a no-break space.
	said.set(said.get() === text ? `${text}\u00a0` : text);
}

/** Announcer is the page's live region for things that happen by themselves. */
export function Announcer() {
	return (
		<div class="hidden" role="status">
			{useStore(said)}
		</div>
	);
}
