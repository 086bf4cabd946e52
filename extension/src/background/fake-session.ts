/** A FakeSession is chrome.storage.session in a test: what it holds stays when the
 * background is ended, and changes are told to all. */
export class FakeSession {
	held: Record<string, unknown> = {};
	private hearers: ((changes: Record<string, chrome.storage.StorageChange>) => void)[] = [];

	readonly onChanged = { addListener: (hear: (typeof this.hearers)[number]) => void this.hearers.push(hear) };

	async get(key: string): Promise<Record<string, unknown>> {
		await Promise.resolve();
		return key in this.held ? { [key]: structuredClone(this.held[key]) } : {};
	}

	async set(part: Record<string, unknown>): Promise<void> {
		await Promise.resolve();
		Object.assign(this.held, structuredClone(part));
		for (const hear of this.hearers) hear(Object.fromEntries(Object.entries(part).map(([key, newValue]) => [key, { newValue }])));
	}
}
