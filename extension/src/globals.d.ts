/** Set by the build (build/variables.mjs). */
declare const __TOKENS_URL__: string;
declare module "*.css";
