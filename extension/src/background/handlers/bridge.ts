import { panelHandler } from "./panel";

/** The bridge reaches more networks than the wallet has; swap.destinations lists them and
 * their tokens. */
export const bridge = panelHandler("bridge", ["swap.destinations"]);
