/// <reference types="node" />
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isObject } from "./object";

/** FUZZ_SEED replays a failure; FUZZ_RUNS runs more inputs than the default. */
const seed = Number(process.env["FUZZ_SEED"] ?? 1);
const runs = Number(process.env["FUZZ_RUNS"] ?? 300);

/** Timeout of one test with that many runs, in ms. */
export const fuzzTimeout = 30_000 + 50 * runs;

/** A Dice returns a number below a bound, the same sequence for the same seed. */
export type Dice = (below: number) => number;

/** diceOf returns a 32-bit generator (mulberry32). */
export function diceOf(from: number): Dice {
	let state = from >>> 0;
	return (below) => {
		state = (state + 0x6d2b79f5) >>> 0;
		let x = Math.imul(state ^ (state >>> 15), state | 1);
		x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
		return ((x ^ (x >>> 14)) >>> 0) % below;
	};
}

/** corpusIn returns [file name, text] of each file in testdata/fuzz/<name>/ next to a test. */
export function corpusIn(dir: string, name: string): [string, string][] {
	const folder = join(dir, "testdata", "fuzz", name);
	const files = readdirSync(folder).sort();
	if (files.length < 3) throw new Error(`there is no corpus in ${name}`);
	return files.map((file) => [file, readFileSync(join(folder, file), "utf8")]);
}

/** fuzzed runs a check on each text of a corpus as it is, and on seeded mutations of them.
 * A failure names the seed that reproduces it. */
export async function fuzzed(dir: string, name: string, check: (text: string, dice: Dice) => void | Promise<void>): Promise<void> {
	const corpus = corpusIn(dir, name);
	const run = async (label: string, text: string, dice: Dice) => {
		try {
			await check(text, dice);
		} catch (thrown) {
			const why = thrown instanceof Error ? thrown.message : String(thrown);
			throw new Error(`${name}, ${label}: ${JSON.stringify(text).slice(0, 2000)}: ${why}`, { cause: thrown });
		}
	};
	for (const [file, text] of corpus) await run(file, text, diceOf(seed));
	for (let n = 0; n < runs; n++) {
		const dice = diceOf(seed * 1_000_003 + n);
		const [file, text] = corpus[dice(corpus.length)]!;
		let mutant = text;
		for (let times = 1 + dice(3); times > 0; times--) mutant = dice(4) === 0 ? mutateText(mutant, dice) : mutateJSON(mutant, dice);
		await run(`FUZZ_SEED=${seed} FUZZ_RUNS=${runs}, run ${n}, of ${file}`, mutant, dice);
	}
}

/** Values to put in place of others: bounds, wrong types, property names of JavaScript, and
 * deceptive text. */
const hostile: readonly unknown[] = [
	null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, -0, "", "0", "1e3", "-1", "0x", " ", "\u0000", "\u202eevil", "\ud800", "é".repeat(300), "9".repeat(100), "<img src=x>", "__proto__", "constructor",
	[], [[]], {}, { length: 1 }, { toString: 1 }, ["__proto__"], JSON.parse(`{"__proto__":{"polluted":true}}`),
];

/** mutateJSON replaces, removes or adds one value of a JSON text; the result is still JSON. */
function mutateJSON(text: string, dice: Dice): string {
	let root: unknown;
	try {
		root = JSON.parse(text);
	} catch {
		return mutateText(text, dice);
	}
	const holders: Record<string, unknown>[] = [];
	const walk = (value: unknown): void => {
		if (!isObject(value)) return;
		holders.push(value as Record<string, unknown>);
		for (const inner of Object.values(value)) walk(inner);
	};
	walk(root);
	const holder = holders[dice(holders.length || 1)];
	const other = hostile[dice(hostile.length)];
	if (!holder || dice(20) === 0) return JSON.stringify(other);
	const keys = Object.keys(holder);
	const key = keys[dice(keys.length || 1)] ?? "0";
	switch (dice(4)) {
		case 0:
			delete holder[key];
			break;
		case 1: {
			const from = holders[dice(holders.length)]!;
			const values = Object.values(from).map((v) => JSON.stringify(v));
			holder[key] = JSON.parse(values[dice(values.length || 1)] ?? "null") as unknown;
			break;
		}
		case 2:
			if (Array.isArray(holder)) holder.push(other);
			else Object.defineProperty(holder, ["__proto__", "constructor", "id", "0", "length"][dice(5)]!, { value: other, enumerable: true, configurable: true, writable: true });
			break;
		default:
			holder[key] = other;
	}
	return JSON.stringify(root);
}

/** mutateText cuts, doubles or replaces a few characters. */
function mutateText(text: string, dice: Dice): string {
	const at = dice(text.length + 1);
	const to = Math.min(text.length, at + dice(8));
	const letter = ["0", "9", "-", ".", ",", "e", '"', "{", "]", "\\", "\u202e", "\u0301", "\ufeff", "\ud83d"][dice(14)]!;
	switch (dice(4)) {
		case 0:
			return text.slice(0, at) + text.slice(to);
		case 1:
			return text.slice(0, to) + text.slice(at, to) + text.slice(to);
		case 2:
			return text.slice(0, at);
		default:
			return text.slice(0, at) + letter + text.slice(to);
	}
}
