import { hue } from "./address";

interface Props {
	/** The colour is derived from this: an address or a chain id. */
	of: string;
	letter?: string | undefined;
	size?: number;
}

/** Avatar replaces token and network logos. No logo is fetched, as a logo server would
 * learn what the user holds. */
export function Avatar({ of, letter, size = 20 }: Props) {
	const h = hue(of);
	return (
		<svg class="avatar" width={size} height={size} viewBox="0 0 20 20" aria-hidden="true">
			<circle cx="10" cy="10" r="10" fill={`hsl(${h} 45% 38%)`} />
			{!letter && <circle cx="10" cy="10" r="5" fill={`hsl(${(h + 140) % 360} 55% 68%)`} />}
			{letter && (
				<text x="10" y="13.6" font-size="10" font-weight="600" text-anchor="middle" fill="#fff">
					{[...letter][0]?.toUpperCase()}
				</text>
			)}
		</svg>
	);
}
