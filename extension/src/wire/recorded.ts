/// <reference types="node" />
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** Recordings made by the daemon's tests: each method with its reply. Tests of both sides
 * read them. */
const folder = resolve(import.meta.dirname, "../../../testdata/protocol");

interface Message {
	id?: number | string | null;
	method?: string;
	params?: unknown;
	result?: unknown;
	error?: unknown;
}

/** A Recording is one request with its reply and the notifications that came with it.
 * "$time", "$uuid" and "$number" in replies stand for any value of that form. */
export interface Recording {
	name: string;
	caller: "extension" | "terminal" | "unknown" | "";
	send?: Message;
	reply?: Message;
	events?: Message[];
}

/** recordings returns the recordings of one file, named without .json. */
export function recordings(file: string): Recording[] {
	return (read(file) as { cases: Recording[] }).cases;
}

export function allRecordings(): Recording[] {
	return files().filter((f) => f !== "errors").flatMap(recordings);
}

/** recordedErrors returns the daemon's table of errors. */
export function recordedErrors(): { code: number; name: string; retryable: boolean }[] {
	return read("errors") as { code: number; name: string; retryable: boolean }[];
}

/** resultOf returns the recorded result of a request; it throws if there is none. */
export function resultOf<R>(file: string, name: string): R {
	const found = recordings(file).find((c) => c.name === name);
	if (!found?.reply?.result) throw new Error(`no result of ${name} is recorded in ${file}`);
	return found.reply.result as R;
}

const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, `${file}.json`), "utf8"));
const files = () => readdirSync(folder).filter((f) => f.endsWith(".json")).map((f) => f.replace(/\.json$/, ""));
