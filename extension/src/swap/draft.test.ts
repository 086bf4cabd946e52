import { afterEach, expect, it, vi } from "vitest";
import type { Token } from "../wire/protocol";

const token = { chainId: 1, address: "0x1", symbol: "T" } as Token;

/** window is a window that opens, with what the one before had kept. */
async function window(before: unknown) {
	const set = vi.fn(async () => {});
	vi.stubGlobal("chrome", { storage: { session: { get: async () => ({ draft: before }), set } } });
	vi.resetModules();
	return { ...(await import("./draft")), set };
}

afterEach(() => {
	vi.unstubAllGlobals();
});

it("comes back as it stood, and is kept from then on", async () => {
	const { draft, emptyDraft, restoreDraft, set } = await window({ tokenIn: token, amount: "1.5" });
	await restoreDraft();
	expect(draft.get()).toEqual({ ...emptyDraft, tokenIn: token, amount: "1.5" });
	expect(set).not.toHaveBeenCalled();
	draft.update((d) => ({ ...d, amount: "2" }));
	expect(set).toHaveBeenLastCalledWith({ draft: { ...emptyDraft, tokenIn: token, amount: "2" } });
});

it("is empty where there was none", async () => {
	const { draft, emptyDraft, restoreDraft } = await window(undefined);
	await restoreDraft();
	expect(draft.get()).toBe(emptyDraft);
});
