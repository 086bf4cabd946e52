import type { Failure } from "../wire/failure";

/** Requests assigns uuids to acts. Repeating an act with the same arguments after the
 * daemon was lost reuses the uuid, so that it happens once. After a success or a refusal,
 * and for other arguments, there is a new one. */
export class Requests {
	private open: { uuid: string; of: string } | undefined;

	/** of returns the uuid for an act with these arguments. */
	of(args: readonly unknown[]): string {
		const of = JSON.stringify(args);
		if (this.open?.of !== of) this.open = { uuid: crypto.randomUUID(), of };
		return this.open.uuid;
	}

	/** ended records how the act ended; undefined means success. */
	ended(failure: Failure | undefined): void {
		if (!failure?.is("daemon_lost", "timed_out", "stopping", "daemon_starting")) this.open = undefined;
	}
}
