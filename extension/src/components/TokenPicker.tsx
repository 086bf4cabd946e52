import { useState } from "preact/hooks";
import type { Token } from "../wire/protocol";
import { useNetworkData } from "../state/context";
import { useStore } from "../state/store";
import { Modal } from "./Modal";
import { TokenCheck } from "./TokenCheck";
import { TokenList } from "./TokenList";
import { doubtOf, type TokenRow } from "./token-rows";

interface Props {
	title: string;
	chainId: number;
	/** Tokens known to the daemon, or those that a provider says it trades. */
	source: "known" | "bridge" | "intent";
	selected?: Token | undefined;
	/** For display only; the daemon checks each one before it is selected. */
	extra?: readonly Token[];
	onPick: (token: Token) => void;
	onClose: () => void;
}

const none: readonly Token[] = [];

// Tokens that the user was asked about and accepted, by chain and address, while the popup
// is open.
const acceptedTokens = new Set<string>();
const keyOf = (token: Token) => `${token.chainId}:${token.address.toLowerCase()}`;

/** TokenPicker is a dialog to choose a token of one network. It asks before it selects a
 * token that is not on a trusted list. */
export function TokenPicker({ title, chainId, source, selected, extra = none, onPick, onClose }: Props) {
	const [query, setQuery] = useState("");
	const [asked, ask] = useState<{ address: string; token?: Token } | undefined>(undefined);
	const known = useStore(useNetworkData().networks).some((n) => n.chainId === chainId);
	const take = (token: Token) => {
		acceptedTokens.add(keyOf(token));
		onPick(token);
	};
	const pick = ({ token, displayOnly }: TokenRow) => {
		if (displayOnly && known) ask({ address: token.address });
		else if ((!displayOnly && !doubtOf(token)) || acceptedTokens.has(keyOf(token)) || (selected && keyOf(selected) === keyOf(token))) onPick(token);
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
