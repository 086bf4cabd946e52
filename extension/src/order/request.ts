import type { Failure } from "../wire/failure";

/** Requests gives an act its uuid. A repeat of the same act after the daemon was lost
 * keeps it, so that the act happens once; a refused act, or another one, gets a new one. */
export class Requests {
	private open: { uuid: string; of: string } | undefined;

	/** of is the uuid for an act with these arguments. */
	of(args: readonly unknown[]): string {
		const of = JSON.stringify(args);
		if (this.open?.of !== of) this.open = { uuid: crypto.randomUUID(), of };
		return this.open.uuid;
	}

	/** ended tells how it ended; undefined: well. */
	ended(failure: Failure | undefined): void {
		if (!failure?.is("daemon_lost", "timed_out", "stopping", "daemon_starting")) this.open = undefined;
	}
}
