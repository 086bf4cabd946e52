/** A FakeSession stands in for chrome.storage.session in tests: its content survives the
 * end of the background, and every listener is notified of changes. */
export class FakeSession {
	held: Record<string, unknown> = {};
	private listeners: ((changes: Record<string, chrome.storage.StorageChange>) => void)[] = [];

	readonly onChanged = { addListener: (listener: (typeof this.listeners)[number]) => void this.listeners.push(listener) };

	async get(key: string): Promise<Record<string, unknown>> {
		await Promise.resolve();
		return key in this.held ? { [key]: structuredClone(this.held[key]) } : {};
	}

	async set(part: Record<string, unknown>): Promise<void> {
		await Promise.resolve();
		Object.assign(this.held, structuredClone(part));
		for (const listener of this.listeners) listener(Object.fromEntries(Object.entries(part).map(([key, newValue]) => [key, { newValue }])));
	}
}
