import { afterEach, expect, it, vi } from "vitest";
import { writeStored, readStored } from "./browser-storage";

afterEach(() => {
	vi.unstubAllGlobals();
});

function area() {
	const held: Record<string, unknown> = {};
	return { held, get: async (key: string) => (key in held ? { [key]: held[key] } : {}), set: vi.fn(async (part: object) => void Object.assign(held, part)) };
}

it("keeps what is to outlive the browser apart from what is not, and nothing else", async () => {
	const storage = { local: area(), session: area() };
	vi.stubGlobal("chrome", { storage });
	writeStored("account", "0x1");
	writeStored("theme", "dark");
	writeStored("language", "de");
	writeStored("draft", { amount: "1" });
	writeStored("provider", "dex");
	expect(storage.local.held).toEqual({ account: "0x1", theme: "dark", language: "de" });
	expect(storage.session.held).toEqual({ draft: { amount: "1" }, provider: "dex" });
	expect(await readStored("draft")).toEqual({ amount: "1" });
	expect(await readStored("theme")).toBe("dark");
});

it("goes without what cannot be read, or is no text", async () => {
	const storage = { local: area(), session: area() };
	Object.assign(storage.local.held, { language: 5, theme: { of: "older" } });
	storage.session.get = () => Promise.reject(new Error("corrupt"));
	vi.stubGlobal("chrome", { storage });
	for (const key of ["language", "theme", "draft", "provider"] as const) expect(await readStored(key)).toBeUndefined();
});

it("knows nothing of what was never kept, and goes on where nothing can be kept", async () => {
	const storage = { local: area(), session: area() };
	storage.session.set.mockRejectedValue(new Error("quota"));
	vi.stubGlobal("chrome", { storage });
	expect(await readStored("account")).toBeUndefined();
	writeStored("draft", {});
	await Promise.resolve(); // an unhandled rejection would fail the run
});
