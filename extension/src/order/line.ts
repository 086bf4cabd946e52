import { type MessageKey, t } from "../i18n/t";

/** A Line is a sentence that is still to be said in a language: a message and what
 * stands for its $1 to $9. */
export interface Line {
	key: MessageKey;
	values: readonly string[];
}

export const line = (key: MessageKey, ...values: string[]): Line => ({ key, values });

/** say writes a line in the language of the reader. */
export const say = ({ key, values }: Line): string => t(key, ...values);

/** A Teller writes what an order's figures stand for. */
export interface Teller {
	/** All digits, with the token's symbol. */
	amount(chainId: number, token: string, units: string): string;
	/** Of the network's own coin. */
	coin(chainId: number, wei: string): string;
	network(chainId: number): string;
	/** Several names in one: "Ethereum and Base". */
	list(names: readonly string[]): string;
	/** An account by its name, any other address short. */
	account(address: string): string;
	provider(kind: string): string;
	/** Who is trusted to settle, where there are words for it; else as the daemon says it. */
	trusted(who: string): string;
	/** Time of day, with the date where it is not today. */
	time(time: string): string;
}
