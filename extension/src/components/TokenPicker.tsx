import { useState } from "preact/hooks";
import type { Token } from "../wire/protocol";
import { useWallet } from "../state/context";
import { useStore } from "../state/store";
import { Modal } from "./Modal";
import { TokenCheck } from "./TokenCheck";
import { TokenList } from "./TokenList";
import { doubtOf, type TokenRow } from "./token-rows";

interface Props {
	title: string;
	chainId: number;
	/** Whose tokens: those known here, or what a provider says it trades. */
	source: "known" | "bridge" | "intent";
	selected?: Token | undefined;
	/** For display: each of them goes through the daemon before it is taken. */
	extra?: readonly Token[];
	onPick: (token: Token) => void;
	onClose: () => void;
}

const none: readonly Token[] = [];

// Tokens that were asked about and taken, by chain and address, while the window is open.
const taken = new Set<string>();
const keyOf = (token: Token) => `${token.chainId}:${token.address.toLowerCase()}`;

/** TokenPicker has a token of one network chosen. One that nobody here vouches for is
 * asked about first. */
export function TokenPicker({ title, chainId, source, selected, extra = none, onPick, onClose }: Props) {
	const [query, setQuery] = useState("");
	const [asked, ask] = useState<{ address: string; token?: Token } | undefined>(undefined);
	const known = useStore(useWallet().networks).some((n) => n.chainId === chainId);
	const take = (token: Token) => {
		taken.add(keyOf(token));
		onPick(token);
	};
	const pick = ({ token, told }: TokenRow) => {
		if (told && known) ask({ address: token.address });
		else if ((!told && !doubtOf(token)) || taken.has(keyOf(token)) || (selected && keyOf(selected) === keyOf(token))) onPick(token);
		else ask({ address: token.address, token });
	};
	return (
		<Modal title={title} onClose={onClose}>
			{asked ? (
				<TokenCheck chainId={chainId} {...asked} onTake={take} onBack={() => ask(undefined)} />
			) : (
				<TokenList
					chainId={chainId}
					source={source}
					known={known}
					selected={selected}
					extra={extra}
					query={query}
					onQuery={setQuery}
					onPick={pick}
					onImport={(address) => ask({ address })}
				/>
			)}
		</Modal>
	);
}
