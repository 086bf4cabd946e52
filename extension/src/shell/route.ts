import { store } from "../state/store";

/** A Route is a screen of the unlocked wallet. */
export type Route =
	| { at: "swap" }
	| { at: "assets" }
	| { at: "activity" }
	| { at: "order"; id: string }
	| { at: "receive" }
	| { at: "accounts" }
	| { at: "networks" }
	| { at: "approvals" }
	| { at: "token"; address: string }
	| { at: "settings"; section?: string };

export const route = store<Route>({ at: "swap" });

let before: Route[] = [];

/** go opens a screen; back returns to the previous one. */
export function go(to: Route): void {
	before = to.at === "swap" ? [] : [...before.slice(-20), route.get()];
	route.set(to);
}

export function back(): void {
	route.set(before.pop() ?? { at: "swap" });
}
