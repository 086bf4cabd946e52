import { describe, expect, it } from "vitest";
import { secondsUntil } from "../components/useSecondsUntil";
import { Failure } from "../wire/failure";
import { waitOf } from "./usePasswordWait";

const failure = (name: string, details?: Record<string, string>) =>
	new Failure({ code: 1103, message: "", data: { name, retryable: true, remedy: "", ...(details ? { details } : {}) } });

describe("a wait", () => {
	it("is as long as the daemon says", () => {
		expect(waitOf(failure("backing_off", { seconds: "8" }), 1000)).toBe(9000);
		expect(waitOf(failure("wrong_password"), 1000)).toBe(0);
		expect(waitOf(undefined, 1000)).toBe(0);
	});
	it("is counted in whole seconds, and ends", () => {
		expect([0, 1, 7999, 8000, 9000].map((now) => secondsUntil(8000, now))).toEqual([8, 8, 1, 0, 0]);
	});
});
