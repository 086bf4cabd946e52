/** SVG paths in a 24 by 24 box, to be stroked. They are no font glyphs, since no font has
 * them all in one style. */
const pictures = {
	activity: "M8 6h12 M8 12h12 M8 18h12 M4 6h.01 M4 12h.01 M4 18h.01",
	assets: "M4 7h14a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2H6a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2h10 M16 13.5h.01",
	back: "M19 12H5 M11 6l-6 6 6 6",
	check: "M5 12.5l4.5 4.5L19 7.5",
	close: "M6 6l12 12 M18 6L6 18",
	edit: "M4 20l1-5L16 4l4 4L9 19z",
	lock: "M6 11h12v9H6z M8.5 11V8a3.5 3.5 0 0 1 7 0v3",
	receive: "M12 4v12 M7 11l5 5 5-5 M5 20h14",
	settings: "M4 7h9 M19 7h1 M4 17h1 M11 17h9 M16 4.5a2.5 2.5 0 1 0 .01 0z M8 14.5a2.5 2.5 0 1 0 .01 0z",
	swap: "M4 8h14 M14 4l4 4-4 4 M20 16H6 M10 12l-4 4 4 4",
	turn: "M8 4v15 M4 15l4 4 4-4 M16 20V5 M12 9l4-4 4 4",
	out: "M14 4h6v6 M20 4l-9 9 M18 14v6H4V6h6",
	warn: "M12 4L2.5 20h19z M12 10v5 M12 17.5v.01",
	stop: "M8 3h8l5 5v8l-5 5H8l-5-5V8z M12 8v5 M12 16v.01",
	info: "M12 3a9 9 0 1 0 .01 0z M12 11v5 M12 8v.01",
	copy: "M9 9h11v11H9z M5 15H4V4h11v1",
	down: "M6 9l6 6 6-6",
	plus: "M12 5v14 M5 12h14",
} as const;

export type IconName = keyof typeof pictures;

/** Icon is decorative: it stands next to a text, or in a button with an accessible name. */
export function Icon({ name, size = 20 }: { name: IconName; size?: number }) {
	return (
		<svg class="icon-picture" width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
			<path d={pictures[name]} />
		</svg>
	);
}
