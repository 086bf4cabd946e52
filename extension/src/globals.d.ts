/** Set by the build (build/variables.mjs). */
declare const __TOKENS_URL__: string;
declare const __DEVELOPMENT__: boolean;
declare module "*.css";
