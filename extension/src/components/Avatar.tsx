import { useState } from "preact/hooks";
import { hue } from "./address";

interface Props {
	/** The colour is derived from this: an address or a chain id. */
	of: string;
	letter?: string | undefined;
	/** Of a built-in token: the name of its drawing in this package. */
	mark?: string | undefined;
	size?: number;
}

/** Avatar shows a token's mark, where one ships with this package, and stands for the logos
 * of other tokens and of networks. No logo is fetched, as a logo server would learn what the
 * user holds. */
export function Avatar({ of, letter, mark, size = 20 }: Props) {
	const [missing, miss] = useState<string>();
	if (mark && mark !== missing && /^[a-z0-9-]+$/.test(mark)) {
		return <img class="avatar" src={`logos/${mark}.svg`} width={size} height={size} alt="" onError={() => miss(mark)} />;
	}
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
