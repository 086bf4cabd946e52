import { sentence } from "../i18n/sentence";
import { refusalWords } from "../order/failure-words";
import type { Failure } from "../wire/failure";

/** failureText returns a refusal as one paragraph, to be shown at a field. */
export function failureText(failure: Failure): string {
	const { title, text, said = "", do: todo } = refusalWords(failure);
	return [title, text, said, todo].filter((part) => part !== "").map(sentence).join(" ");
}

/** answerLost reports whether there was no answer, so that the act may have happened. */
export function answerLost(failure: Failure): boolean {
	return failure.is("daemon_lost", "timed_out");
}
