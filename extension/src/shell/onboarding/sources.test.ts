import { describe, expect, it } from "vitest";
import { fieldOf, fieldsOf, inputProblem, nothingGiven } from "./sources";

// The published test mnemonic and its first key, without value.
const words = "test test test test test test test test test test test junk";
const key = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

describe("what is imported", () => {
	it("is sent of one source only", () => {
		const given = { mnemonic: ` ${words.toUpperCase()}\n`, privateKey: ` ${key} `, keystore: "{}", keystorePassword: "p" };
		expect(fieldsOf("mnemonic", given)).toEqual({ mnemonic: words });
		expect(fieldsOf("privateKey", given)).toEqual({ privateKey: key });
		expect(fieldsOf("keystore", given)).toEqual({ keystore: "{}", keystorePassword: "p" });
	});
	it("is looked at before it is sent", () => {
		expect(inputProblem("mnemonic", { ...nothingGiven, mnemonic: words })).toBeUndefined();
		expect(inputProblem("mnemonic", { ...nothingGiven, mnemonic: "test test" })).toMatchObject({ field: "mnemonic", value: 2 });
		expect(inputProblem("privateKey", { ...nothingGiven, privateKey: `0x${key}` })).toBeUndefined();
		expect(inputProblem("privateKey", { ...nothingGiven, privateKey: key.slice(1) })?.field).toBe("privateKey");
		expect(inputProblem("keystore", { ...nothingGiven, keystore: '{"version":3}' })).toBeUndefined();
		for (const keystore of ["", "[]", "{", "null", `{"a":"${"x".repeat(4096)}"}`]) expect(inputProblem("keystore", { ...nothingGiven, keystore })?.field).toBe("keystore");
	});
});

describe("a refusal", () => {
	it("is shown at the field that it is about", () => {
		expect(fieldOf("bad_mnemonic", "mnemonic")).toBe("mnemonic");
		expect(fieldOf("keystore_password", "keystore")).toBe("keystorePassword");
		expect(fieldOf("duplicate_wallet", "privateKey")).toBe("privateKey");
		expect(fieldOf("sandbox_only", "mnemonic")).toBe("mnemonic");
		expect(fieldOf("keychain_locked", "mnemonic")).toBeUndefined();
	});
});
