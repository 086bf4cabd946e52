import type { Events, Methods } from "../../wire/protocol";

/** A Handler serves the pages' ports of one name: it says which of the daemon's
 * methods they may call, in which form, and what they are told. */
export interface Handler {
	/** The methods that this port may call. Any other is refused. */
	readonly methods: readonly (keyof Methods)[];
	/** narrow puts a request into the only form that is allowed here. */
	narrow?<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Methods[M]["params"];
	/** hears tells whether the port gets a notification. */
	hears(event: keyof Events, params: Events[keyof Events]): boolean;
}
