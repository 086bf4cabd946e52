/** isObject reports whether an untrusted value is an object or array, so that its fields
 * can be read. */
export function isObject<T>(said: T): said is T & object {
	return typeof said === "object" && said !== null;
}
