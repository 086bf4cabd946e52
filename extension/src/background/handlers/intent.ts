import { panelHandler } from "./panel";

/** The intent provider trades tokens of its own choice, also on networks that it
 * alone reaches. */
export const intent = panelHandler("intent", ["tokens.list"]);
