import { sentence } from "../i18n/sentence";
import { refusalWords } from "../order/failure-words";
import type { Failure } from "../wire/failure";

/** troubleOf is a refusal in one paragraph, for a field that it is about. */
export function troubleOf(failure: Failure): string {
	const { title, text, said = "", do: todo } = refusalWords(failure);
	return [title, text, said, todo].filter((part) => part !== "").map(sentence).join(" ");
}

/** lostAnswer: what was asked for may have been done all the same. */
export function lostAnswer(failure: Failure): boolean {
	return failure.is("daemon_lost", "timed_out");
}
