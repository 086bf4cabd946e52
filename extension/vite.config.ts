import { resolve } from "node:path";
import { defineConfig } from "vite";

// One build makes what both browsers share; build/build.mjs puts it together
// with each browser's manifest.
export default defineConfig({
	root: resolve(import.meta.dirname, "src"),
	base: "./",
	publicDir: false,
	oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
	build: {
		target: ["chrome123", "firefox140"],
		modulePreload: { polyfill: false },
		assetsInlineLimit: 0,
		rolldownOptions: {
			input: { popup: resolve(import.meta.dirname, "src/popup.html"), background: resolve(import.meta.dirname, "src/background/main.ts") },
			output: { entryFileNames: "[name].js", chunkFileNames: "chunks/[name]-[hash].js", assetFileNames: "assets/[name]-[hash][extname]" },
		},
	},
	test: { root: import.meta.dirname, include: ["src/**/*.test.ts"] },
});
