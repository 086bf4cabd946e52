import type { ErrorName } from "./protocol";

/** WireError is the error object of the protocol (PROTOCOL.md §8). */
export interface WireError {
	code: number;
	message: string;
	data?: { name: string; retryable: boolean; remedy: string; details?: Record<string, string> };
}

/** A Failure is a request that was refused or got no answer. `name` is an error name of the
 * protocol's table; for a name that this build does not know, `retryable` decides. */
export class Failure extends Error {
	readonly code: number;
	readonly retryable: boolean;
	readonly remedy: string;
	readonly details: Readonly<Record<string, string>>;
	override readonly name: string;

	/** Fields of a wrong type are treated as absent, since pages display them all. */
	constructor(error: WireError) {
		const { code, message, data } = (error ?? {}) as Partial<WireError>;
		super(typeof message === "string" ? message : "");
		this.code = typeof code === "number" ? code : -32603;
		this.name = typeof data?.name === "string" ? data.name : "internal";
		this.retryable = data?.retryable === true;
		this.remedy = typeof data?.remedy === "string" ? data.remedy : "";
		this.details = typeof data?.details === "object" ? (data.details ?? {}) : {};
	}

	is(...names: ErrorName[]): boolean {
		return (names as string[]).includes(this.name);
	}
}

/** failureOf turns whatever was thrown into a Failure. */
export function failureOf(thrown: unknown): Failure {
	if (thrown instanceof Failure) return thrown;
	return new Failure({ code: -32603, message: thrown instanceof Error ? thrown.message : String(thrown) });
}
