import { describe, expect, it } from "vitest";
import { handlers } from "../background/handlers/index";
import { Failure, failureOf, type WireError } from "./failure";
import { errors, methods } from "./protocol";
import { allRecordings, recordedErrors } from "./recorded";

const served = allRecordings().filter((r) => r.caller === "extension" || r.caller === "unknown");
const unserved = new Set(["unknown_method", "terminal_only"]);
const errorOf = (r: { reply?: { error?: unknown } }) => r.reply?.error as WireError | undefined;

describe("what the daemon's tests recorded", () => {
	it("has all that an extension is served in the table of methods, and nothing else is served", () => {
		const answered = new Set<string>();
		for (const r of served) {
			const method = r.send?.method;
			if (!method || method === "host.attach") continue;
			if (!unserved.has(errorOf(r)?.data?.name ?? "")) answered.add(method);
		}
		expect([...answered].sort()).toEqual(Object.keys(methods).sort());
	});
	it("greets with the methods that the table has", () => {
		const hellos = served.concat(allRecordings()).flatMap((r) => r.events ?? []).filter((e) => e.method === "host.hello");
		const toClients = hellos.map((e) => (e.params as { capabilities: string[]; connection: { kind: string; readOnly: boolean } })).filter((h) => h.connection.kind === "browser" && !h.connection.readOnly);
		expect(toClients.length).toBeGreaterThan(0);
		for (const h of toClients) expect([...h.capabilities].sort()).toEqual(Object.keys(methods).sort());
	});
	it("has errors that all are read without loss", () => {
		const all = allRecordings().map((r) => [r.name, errorOf(r)] as const).filter(([, e]) => e);
		expect(all.length).toBeGreaterThan(40);
		for (const [name, error] of all) {
			const failure = new Failure(error!);
			expect(failure, name).toMatchObject({ code: error!.code, message: error!.message, name: error!.data?.name, retryable: error!.data?.retryable, remedy: error!.data?.remedy, details: error!.data?.details ?? {} });
			expect(failure.is(error!.data!.name as never), name).toBe(true);
		}
	});
	it("has the errors of the table, by the same code", () => {
		expect(Object.fromEntries(recordedErrors().map((e) => [e.name, { code: e.code, retryable: e.retryable }]))).toEqual(
			Object.fromEntries(Object.entries(errors).map(([name, e]) => [name, { code: e.code, retryable: e.retryable }])),
		);
	});
});

describe("the handlers", () => {
	it("serve methods of the table, the background's own ones to none", () => {
		for (const [name, handler] of Object.entries(handlers)) {
			expect(Object.keys(methods), name).toEqual(expect.arrayContaining([...handler.methods]));
			expect(handler.methods, name).not.toContain("host.hello");
		}
	});
	it("leave consent to the panels: the shell neither quotes nor executes, to compare is to look", () => {
		for (const method of ["swap.quote", "swap.watch", "swap.prepare", "swap.execute"]) expect(handlers.shell.methods).not.toContain(method);
		expect(handlers.compare.methods).toEqual(["swap.quote"]);
	});
	it("serve every method of the table somewhere", () => {
		const all = new Set(Object.values(handlers).flatMap((h) => [...h.methods] as string[]));
		expect([...all, "host.hello"].sort()).toEqual(Object.keys(methods).sort());
	});
});

describe("failureOf", () => {
	it("leaves a Failure as it is", () => {
		const f = new Failure({ code: 1, message: "m", data: { name: "locked", retryable: false, remedy: "r" } });
		expect(failureOf(f)).toBe(f);
	});
	it.each([[new Error("boom"), "boom"], ["text", "text"], [undefined, "undefined"]])("reads %s", (thrown, message) => {
		expect(failureOf(thrown)).toMatchObject({ name: "internal", code: -32603, message, retryable: false });
	});
	it("takes an error without data for an internal one", () => expect(new Failure({ code: 5, message: "x" })).toMatchObject({ name: "internal", retryable: false, details: {} }));
});
