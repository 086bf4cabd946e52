import { relative, resolve } from "node:path";
import { defineConfig } from "vite";

const src = resolve(import.meta.dirname, "src");

/** drawn matches the modules that only pages use (views and their data), none that the
 * background uses too. */
const drawn = (id: string) =>
	/^(\.\.\/messages|components|i18n|money|order|shell|state|style|swap)\b/.test(relative(src, id)) || /node_modules.preact|preload-helper/.test(id);

// Builds what both browsers share; build/build.mjs combines it with each manifest.
export default defineConfig({
	root: src,
	base: "./",
	publicDir: false,
	oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
	build: {
		target: ["chrome123", "firefox140"],
		modulePreload: { polyfill: false },
		assetsInlineLimit: 0,
		rolldownOptions: {
			checks: { bundlerTimings: false }, // times of plugins are irrelevant to the packages
			input: { popup: resolve(src, "popup.html"), background: resolve(src, "background/main.ts") },
			output: {
				entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js", assetFileNames: "assets/[name]-[hash][extname]",
				// One file for what the popup draws first: two dozen files take 20 ms longer.
				codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: "first", tags: ["$initial"], test: drawn }] },
			},
		},
	},
	test: { root: import.meta.dirname, include: ["src/**/*.test.ts", "build/*.test.mjs"] },
});
