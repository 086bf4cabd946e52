import { useEffect, useRef, useState } from "preact/hooks";
import { type Failure, failureOf } from "../wire/failure";

/** An Answer is the latest answer to a question and the failure since, if any. Both are
 * undefined until the first answer arrives. */
export interface Answer<T> {
	answer: T | undefined;
	failure: Failure | undefined;
}

/** KeyedAnswer is an Answer with the key of its question. */
export interface KeyedAnswer<T> extends Answer<T> {
	key: string | undefined;
}

const nothing = { answer: undefined, failure: undefined };

/** withOutcome adds the outcome of a question. A failure keeps the earlier answer, if that was
 * to the same question. */
export function withOutcome<T>(before: KeyedAnswer<T>, key: string, came: { answer: T } | { failure: Failure }): KeyedAnswer<T> {
	if ("answer" in came) return { key, answer: came.answer, failure: undefined };
	return { key, answer: answerTo(before, key).answer, failure: came.failure };
}

/** answerTo returns what is known about a question; nothing if `told` is about another one. */
export function answerTo<T>(told: KeyedAnswer<T>, key: string | undefined): Answer<T> {
	return key !== undefined && told.key === key ? told : nothing;
}

/** useAnswer asks the question named by `key` (undefined: none), and again when `turn`
 * changes. An answer that arrives after the next question was asked is dropped. */
export function useAnswer<T>(key: string | undefined, ask: () => Promise<T>, turn?: unknown): Answer<T> {
	const [told, tell] = useState<KeyedAnswer<T>>({ key: undefined, ...nothing });
	const latest = useRef(ask);
	latest.current = ask;
	useEffect(() => {
		if (key === undefined) return;
		let wanted = true;
		const take = (came: { answer: T } | { failure: Failure }) => wanted && tell((before) => withOutcome(before, key, came));
		latest.current().then((answer) => take({ answer }), (thrown: unknown) => take({ failure: failureOf(thrown) }));
		return () => void (wanted = false);
	}, [key, turn]);
	return answerTo(told, key);
}
