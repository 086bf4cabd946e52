import { afterEach, expect, it, vi } from "vitest";
import type { Token } from "../wire/protocol";

const token = { chainId: 1, address: "0x1", symbol: "T", name: "Test", decimals: 6 } as Token;

/** window returns the module as a new window loads it, with what an earlier one stored. */
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

it.each<[string, unknown]>([
	["a text", "1"], ["nothing", null], ["a number for the amount", { amount: 5 }], ["no token", { tokenIn: "0x1" }], ["a token without decimals", { tokenOut: { ...token, decimals: undefined } }],
	["decimals below zero", { tokenIn: { ...token, decimals: -1 } }], ["a network by name", { destination: "Base" }],
])("is empty where what was kept is %s", async (_, before) => {
	const { draft, emptyDraft, restoreDraft } = await window(before);
	await restoreDraft();
	expect(draft.get()).toBe(emptyDraft);
});

it("is emptied of what was consented to, also for the next window, until that is refused", async () => {
	const { draft, clearAmount, restoreDraft, set } = await window({ tokenIn: token, amount: "1.5" });
	await restoreDraft();
	const restore = clearAmount();
	expect(draft.get()).toMatchObject({ tokenIn: token, amount: "" });
	expect(set).toHaveBeenLastCalledWith({ draft: expect.objectContaining({ amount: "" }) });
	restore();
	expect(draft.get().amount).toBe("1.5");
	draft.update((d) => ({ ...d, amount: "2" }));
	restore(); // what was typed since must stay
	expect(draft.get().amount).toBe("2");
});
