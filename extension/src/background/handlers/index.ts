import { bridge } from "./bridge";
import { compare } from "./compare";
import { dex } from "./dex";
import { gasless } from "./gasless";
import type { Handler } from "./handler";
import { intent } from "./intent";
import { shell } from "./shell";

/** The handlers, by the port name that they serve. */
export const handlers = { shell, compare, dex, bridge, intent, gasless } as const satisfies Record<string, Handler>;

export type HandlerName = keyof typeof handlers;

export function handlerOf(name: string): Handler | undefined {
	return Object.hasOwn(handlers, name) ? handlers[name as HandlerName] : undefined;
}
