import { panelHandler } from "./panel";

/** The bridge reaches networks of its own, whose names and tokens it tells. */
export const bridge = panelHandler("bridge", ["swap.destinations"]);
