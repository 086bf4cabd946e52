import { expect, it } from "vitest";
import { Failure } from "../wire/failure";
import { type ErrorName, errors } from "../wire/protocol";
import { reasonsOf } from "./useConsentPassword";

const failure = (name: ErrorName, details: Record<string, string>) =>
	new Failure({ code: errors[name].code, message: name, data: { name, retryable: false, remedy: "", details } });

it("tells why an act takes the password", () => {
	expect(reasonsOf(failure("consent_password", { reasons: "unpriced,hourly_limit" }))).toEqual(["unpriced", "hourly_limit"]);
	expect(reasonsOf(failure("consent_password", {}))).toEqual([]);
	expect(reasonsOf(failure("plan_unknown", { reasons: "unpriced" }))).toEqual([]);
	expect(reasonsOf(undefined)).toEqual([]);
});
