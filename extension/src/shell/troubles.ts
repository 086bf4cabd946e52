import { refusalWords } from "../order/failure-words";
import type { Failure } from "../wire/failure";

/** troubleOf is a refusal in one paragraph, for a field that it is about. */
export function troubleOf(failure: Failure): string {
	const { title, text, do: todo } = refusalWords(failure);
	return [title, text, todo].filter((part) => part !== undefined && part !== "").map((part) => sentence(part!)).join(" ");
}

/** sentence begins with a capital and ends with a full stop. */
export function sentence(words: string): string {
	const [first = "", ...rest] = [...words.trim()];
	if (!first) return "";
	return first.toUpperCase() + rest.join("") + (/[.!?…]$/.test(words.trim()) ? "" : ".");
}

/** lostAnswer: what was asked for may have been done all the same. */
export function lostAnswer(failure: Failure): boolean {
	return failure.is("daemon_lost", "timed_out");
}
