// The build's variables, read from the environment.

/** Base URL of the token list that the intent panel shows, without a trailing slash. The
 * daemon's URL for quotes is a separate setting. */
const tokensURL = process.env.SWAPKEEP_INTENT_TOKENS_URL ?? "https://api.hyperstream.dev";

/** variables returns the build's variables. It throws if one is malformed. */
export function variables() {
	const url = new URL(tokensURL);
	const loopback = url.hostname === "127.0.0.1" && url.protocol === "http:";
	if ((url.protocol !== "https:" && !loopback) || url.username || url.search || url.hash) {
		throw new Error(`SWAPKEEP_INTENT_TOKENS_URL: ${tokensURL}: want https://host, or http://127.0.0.1:port for a sandbox`);
	}
	return { tokensURL: url.href.replace(/\/$/, ""), tokensOrigin: url.origin };
}
