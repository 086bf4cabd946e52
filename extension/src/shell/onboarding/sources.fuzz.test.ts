import { expect, it } from "vitest";
import { fuzzed, fuzzTimeout } from "../../wire/fuzzed";
import { wordCounts } from "./mnemonic";
import { fieldsOf, inputProblem, maxKeyFile, nothingGiven } from "./sources";

it("sends a key file that is an object of a bounded length, as it is, and no other", async () => {
	await fuzzed(import.meta.dirname, "keystore", (text) => {
		const given = { ...nothingGiven, keystore: text, keystorePassword: "p", mnemonic: "m", privateKey: "k" };
		let file: unknown;
		try {
			file = JSON.parse(text);
		} catch {
			file = undefined;
		}
		const fits = file instanceof Object && !Array.isArray(file) && Buffer.byteLength(text) <= maxKeyFile;
		expect(inputProblem("keystore", given) === undefined).toBe(fits);
		expect(fieldsOf("keystore", given)).toEqual({ keystore: text, keystorePassword: "p" });
	});
}, fuzzTimeout);

it("takes for words and for a key what has their form, and sends them without what stands around", async () => {
	await fuzzed(import.meta.dirname, "secrets", (text) => {
		const given = { ...nothingGiven, mnemonic: text, privateKey: text };
		const words = fieldsOf("mnemonic", given).mnemonic!;
		expect(words).not.toMatch(/^\s|\s$|\s\s|[^\S ]/);
		expect(words.replaceAll(" ", "")).toBe(text.toLowerCase().replace(/\s/g, ""));
		expect(inputProblem("mnemonic", given) === undefined).toBe(wordCounts.includes(words === "" ? 0 : words.split(" ").length));
		const key = fieldsOf("privateKey", given).privateKey!;
		expect(inputProblem("privateKey", given) === undefined).toBe(/^[0-9a-fA-F]{64}$/.test(key.replace(/^0x/i, "")));
		expect(text).toContain(key);
	});
}, fuzzTimeout);
