import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";

/** lazy returns a view whose code is loaded when it is first shown. */
export function lazy<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
	let loaded: ComponentType<P> | undefined;
	return function Lazy(props: P) {
		const [View, show] = useState<ComponentType<P> | undefined>(() => loaded);
		useEffect(() => {
			if (!View) void load().then((module) => show(() => (loaded = module.default)));
		}, []);
		return View ? <View {...props} /> : null;
	};
}
