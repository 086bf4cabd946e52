import type { Events, Methods } from "../../wire/protocol";

/** A Handler serves all page ports of one name. It defines which daemon methods they may
 * call, with which parameters, and which notifications they get. */
export interface Handler {
	/** The methods that this port may call. Any other is refused. */
	readonly methods: readonly (keyof Methods)[];
	/** narrow overrides the parameters that this port may not choose. */
	narrow?<M extends keyof Methods>(method: M, params: Methods[M]["params"]): Methods[M]["params"];
	/** wantsEvent reports whether the port gets a notification. */
	wantsEvent(event: keyof Events, params: Events[keyof Events]): boolean;
}
