/// <reference types="node" />
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";

/** What the daemon's own tests recorded: each method with its reply. Tests of both sides
 * read it. */
const folder = resolve(import.meta.dirname, "../../../testdata/protocol");

interface Message {
	id?: number | string | null;
	method?: string;
	params?: unknown;
	result?: unknown;
	error?: unknown;
}

/** A Recording is one request with its reply, and the notifications that came with it. In
 * replies "$time", "$uuid" and "$number" stand for any value of that form. */
export interface Recording {
	name: string;
	caller: "extension" | "terminal" | "unknown" | "";
	send?: Message;
	reply?: Message;
	events?: Message[];
}

/** recordings are those of one file, by its name without .json. */
export function recordings(file: string): Recording[] {
	return (read(file) as { cases: Recording[] }).cases;
}

/** allRecordings are those of all files. */
export function allRecordings(): Recording[] {
	return files().filter((f) => f !== "errors").flatMap(recordings);
}

/** recordedErrors is the table of all errors as the daemon has it. */
export function recordedErrors(): { code: number; name: string; retryable: boolean }[] {
	return read("errors") as { code: number; name: string; retryable: boolean }[];
}

/** resultOf is what a recorded request was answered with. */
export function resultOf<R>(file: string, name: string): R {
	const found = recordings(file).find((c) => c.name === name);
	if (!found?.reply?.result) throw new Error(`no result of ${name} is recorded in ${file}`);
	return found.reply.result as R;
}

const read = (file: string): unknown => JSON.parse(readFileSync(join(folder, `${file}.json`), "utf8"));
const files = () => readdirSync(folder).filter((f) => f.endsWith(".json")).map((f) => f.replace(/\.json$/, ""));
