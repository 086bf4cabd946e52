import { expect, it } from "vitest";
import { Failure } from "../wire/failure";
import { Requests } from "./request";

const failure = (name: string) => new Failure({ code: 1, message: "", data: { name, retryable: false, remedy: "" } });

it.each(["daemon_lost", "timed_out", "stopping", "daemon_starting"])("repeats an act after %s with its uuid", (name) => {
	const requests = new Requests();
	const first = requests.of(["digest"]);
	requests.ended(failure(name));
	expect(requests.of(["digest"])).toBe(first);
});

it("gives a new uuid to another act, after a refusal and after success", () => {
	const requests = new Requests();
	const uuids = [requests.of(["a"])];
	requests.ended(failure("daemon_lost"));
	uuids.push(requests.of(["b"]));
	requests.ended(failure("consent_needed"));
	uuids.push(requests.of(["b"]));
	requests.ended(undefined);
	uuids.push(requests.of(["b"]));
	expect(new Set(uuids).size).toBe(4);
	expect(uuids[0]).toMatch(/^[0-9a-f-]{36}$/);
});
