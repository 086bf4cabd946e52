import { useRef, useState } from "preact/hooks";
import { type Failure, failureOf } from "../wire/failure";
import { Requests } from "./request";

/** An Act is something that a person asks for and that must happen only once. */
export interface Act<A extends unknown[]> {
	busy: boolean;
	/** Why the last try was refused. */
	failure: Failure | undefined;
	run(...args: A): Promise<void>;
	clear(): void;
}

/** useAct runs an act, one at a time, with a request uuid (see Requests). */
export function useAct<A extends unknown[]>(act: (request: string, ...args: A) => Promise<void>): Act<A> {
	const requests = useRef(new Requests());
	const running = useRef(false);
	const [busy, setBusy] = useState(false);
	const [failure, setFailure] = useState<Failure | undefined>(undefined);
	const run = async (...args: A) => {
		if (running.current) return;
		running.current = true;
		setBusy(true);
		setFailure(undefined);
		let refused: Failure | undefined;
		try {
			await act(requests.current.of(args), ...args);
		} catch (thrown) {
			refused = failureOf(thrown);
		}
		requests.current.ended(refused);
		setFailure(refused);
		running.current = false;
		setBusy(false);
	};
	return { busy, failure, run, clear: () => setFailure(undefined) };
}
