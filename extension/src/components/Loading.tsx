/** Loading turns while something is awaited; what is awaited stands beside it. */
export function Loading() {
	return <span class="loading" aria-hidden="true" />;
}
