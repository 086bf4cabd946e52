import { relative, resolve } from "node:path";
import { defineConfig } from "vite";

const src = resolve(import.meta.dirname, "src");

/** drawn tells the modules that pages alone have: views, what they show, and what draws
 * them. What the background has too is not among them. */
const drawn = (id: string) =>
	/^(components|i18n|money|order|shell|state|style|swap)\b/.test(relative(src, id)) || /node_modules.preact|preload-helper/.test(id);

// One build makes what both browsers share; build/build.mjs puts it together
// with each browser's manifest.
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
			checks: { bundlerTimings: false }, // how long plugins took is no matter of the packages
			input: { popup: resolve(src, "popup.html"), background: resolve(src, "background/main.ts") },
			output: {
				entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js", assetFileNames: "assets/[name]-[hash][extname]",
				// What the popup draws first is one file: two dozen take it 20 ms more.
				codeSplitting: { includeDependenciesRecursively: false, groups: [{ name: "first", tags: ["$initial"], test: drawn }] },
			},
		},
	},
	test: { root: import.meta.dirname, include: ["src/**/*.test.ts", "build/*.test.mjs"] },
});
