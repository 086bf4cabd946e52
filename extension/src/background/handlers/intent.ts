import { panelHandler } from "./panel";

/** The intent provider has a token list of its own, also for networks that only it reaches. */
export const intent = panelHandler("intent", ["tokens.list"]);
