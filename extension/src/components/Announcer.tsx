import { store, useStore } from "../state/store";

const said = store("");

/** announce has a screen reader say a sentence, once it is done with the present one. */
export function announce(text: string): void {
	// The same words twice would not be noticed as new.
	said.set(said.get() === text ? `${text}\u00a0` : text);
}

/** Announcer is the page's one live region for what happens by itself. */
export function Announcer() {
	return (
		<div class="hidden" role="status">
			{useStore(said)}
		</div>
	);
}
