/** isObject reports whether something from outside has fields that can be asked for. */
export function isObject<T>(said: T): said is T & object {
	return typeof said === "object" && said !== null;
}
