import { useEffect, useRef, useState } from "preact/hooks";
import { type Failure, failureOf } from "../wire/failure";

/** An Answer to one question: what was answered last, and why nothing was since. Both
 * are undefined while the first answer is awaited. */
export interface Answer<T> {
	answer: T | undefined;
	failure: Failure | undefined;
}

/** Told is an Answer with the question that it is to. */
export interface Told<T> extends Answer<T> {
	key: string | undefined;
}

const nothing = { answer: undefined, failure: undefined };

/** answered adds what came of a question. A failure leaves the answer before, if that
 * was to the same question. */
export function answered<T>(before: Told<T>, key: string, came: { answer: T } | { failure: Failure }): Told<T> {
	if ("answer" in came) return { key, answer: came.answer, failure: undefined };
	return { key, answer: answerTo(before, key).answer, failure: came.failure };
}

/** answerTo is what was told of a question; what was told of another is nothing of it. */
export function answerTo<T>(told: Told<T>, key: string | undefined): Answer<T> {
	return key !== undefined && told.key === key ? told : nothing;
}

/** useAnswer asks what `key` names, and again when `turn` changes; undefined asks
 * nothing. An answer that comes after the next was asked is dropped. */
export function useAnswer<T>(key: string | undefined, ask: () => Promise<T>, turn?: unknown): Answer<T> {
	const [told, tell] = useState<Told<T>>({ key: undefined, ...nothing });
	const latest = useRef(ask);
	latest.current = ask;
	useEffect(() => {
		if (key === undefined) return;
		let wanted = true;
		const take = (came: { answer: T } | { failure: Failure }) => wanted && tell((before) => answered(before, key, came));
		latest.current().then((answer) => take({ answer }), (thrown: unknown) => take({ failure: failureOf(thrown) }));
		return () => void (wanted = false);
	}, [key, turn]);
	return answerTo(told, key);
}
