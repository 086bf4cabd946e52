import { describe, expect, it } from "vitest";
import { Failure } from "../../wire/failure";
import type { Methods, Wallet } from "../../wire/protocol";
import { createWallet, newAct, importWallet } from "./create-wallet";

const wallet = (id: string): Wallet => ({ id, name: id, kind: "mnemonic", accounts: [] });
const lost = new Failure({ code: 1009, message: "gone", data: { name: "daemon_lost", retryable: true, remedy: "" } });
const weak = new Failure({ code: 1104, message: "weak", data: { name: "weak_password", retryable: false, remedy: "" } });

/** daemon answers each call of a method with the next answer in its list. */
function daemon(answers: Partial<Record<keyof Methods, unknown[]>>) {
	const asked: { method: string; params: Record<string, unknown> }[] = [];
	const call = (method: keyof Methods, params: unknown) => {
		asked.push({ method, params: params as Record<string, unknown> });
		const answer = answers[method]?.shift();
		return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
	};
	return { asked, shell: { call: call as never } };
}

describe("create", () => {
	it("brings the words of its first answer", async () => {
		const { shell, asked } = daemon({ "keys.create": [{ wallet: wallet("w1"), words: "a b", warning: "SANDBOX" }] });
		const act = newAct([]);
		await expect(createWallet(shell, act, { password: "p" })).resolves.toMatchObject({ words: "a b", warning: "SANDBOX" });
		expect(asked).toEqual([{ method: "keys.create", params: { password: "p", request: act.request } }]);
	});
	it("repeats a lost act with the same uuid when no wallet was made", async () => {
		const { shell, asked } = daemon({ "keys.create": [lost, { wallet: wallet("w2") }], "keys.status": [{ wallets: [wallet("w1")] }] });
		const act = newAct([wallet("w1")]);
		await expect(createWallet(shell, act, { password: "p" })).rejects.toBe(lost);
		expect(act.unanswered).toBe(true);
		await expect(createWallet(shell, act, { password: "p" })).resolves.toEqual({ wallet: wallet("w2") });
		expect(asked.map((a) => a.method)).toEqual(["keys.create", "keys.status", "keys.create"]);
		expect(asked[2]!.params["request"]).toBe(asked[0]!.params["request"]);
	});
	it("makes no second wallet after a restarted daemon forgot the uuid", async () => {
		const { shell, asked } = daemon({ "keys.create": [lost], "keys.status": [{ wallets: [wallet("w1"), wallet("w2")] }] });
		const act = newAct([wallet("w1")]);
		await expect(createWallet(shell, act, { password: "p" })).rejects.toBe(lost);
		await expect(createWallet(shell, newAct([wallet("w1"), wallet("w2")], act), { password: "other" })).resolves.toEqual({ wallet: wallet("w2") });
		expect(asked.map((a) => a.method)).toEqual(["keys.create", "keys.status"]);
	});
	it("is a new act after a refusal, for its content changes", async () => {
		const { shell } = daemon({ "keys.create": [weak] });
		const act = newAct([]);
		await expect(createWallet(shell, act, { password: "p" })).rejects.toBe(weak);
		expect(act.unanswered).toBe(false);
		expect(newAct([], act).request).not.toBe(act.request);
	});
});

describe("take", () => {
	it("finds what a lost import has made", async () => {
		const { shell, asked } = daemon({ "keys.import": [lost], "keys.status": [{ wallets: [wallet("w1")] }] });
		const act = newAct([]);
		await expect(importWallet(shell, act, { password: "p", mnemonic: "m" })).rejects.toBe(lost);
		await expect(importWallet(shell, act, { password: "p", mnemonic: "m" })).resolves.toEqual({ wallet: wallet("w1") });
		expect(asked.map((a) => a.method)).toEqual(["keys.import", "keys.status"]);
	});
});
