/** Loading is a spinner without a text; what is being waited for is written next to it. */
export function Loading() {
	return <span class="loading" aria-hidden="true" />;
}
