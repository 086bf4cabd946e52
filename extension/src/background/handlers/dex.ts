import { panelHandler } from "./panel";

export const dex = panelHandler("dex");
