import { panelHandler } from "./panel";

export const gasless = panelHandler("gasless");
