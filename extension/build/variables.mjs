// The build's variables. Each is read from the environment.

/** Where the intent panel asks for tokens to show, a base URL without a path's
 * slash at its end. Apart from the daemon's, which asks for quotes. */
const tokensURL = process.env.SWAPKEEP_INTENT_TOKENS_URL ?? "https://api.hyperstream.dev";

/** reads the variables, or throws for one that is out of form. */
export function variables() {
	const url = new URL(tokensURL);
	const loopback = url.hostname === "127.0.0.1" && url.protocol === "http:";
	if ((url.protocol !== "https:" && !loopback) || url.username || url.search || url.hash) {
		throw new Error(`SWAPKEEP_INTENT_TOKENS_URL: ${tokensURL}: want https://host, or http://127.0.0.1:port for a sandbox`);
	}
	return { tokensURL: url.href.replace(/\/$/, ""), tokensOrigin: url.origin };
}
