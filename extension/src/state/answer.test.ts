import { expect, it } from "vitest";
import { Failure } from "../wire/failure";
import { withOutcome, answerTo, type KeyedAnswer } from "./answer";

const failure = new Failure({ code: 1011, message: "" });
const none: KeyedAnswer<number> = { key: undefined, answer: undefined, failure: undefined };

it("is of its own question alone", () => {
	const told = withOutcome(none, "1:usdc", { answer: 7 });
	expect(answerTo(told, "1:usdc").answer).toBe(7);
	expect(answerTo(told, "10:usdc")).toEqual({ answer: undefined, failure: undefined });
	expect(answerTo(none, undefined)).toEqual({ answer: undefined, failure: undefined });
});

it("stays beside a later failure, of the same question and no other", () => {
	const told = withOutcome(none, "a", { answer: 7 });
	expect(withOutcome(told, "a", { failure })).toEqual({ key: "a", answer: 7, failure });
	expect(withOutcome(told, "b", { failure })).toEqual({ key: "b", answer: undefined, failure });
});

it("takes a failure away", () => expect(withOutcome(withOutcome(none, "a", { failure }), "a", { answer: 8 })).toEqual({ key: "a", answer: 8, failure: undefined }));
