import { type MessageKey, t } from "../i18n/t";

/** A Line is a text to be translated when shown: a message key and the values for $1 to $9. */
export interface Line {
	key: MessageKey;
	values: readonly string[];
}

export const line = (key: MessageKey, ...values: string[]): Line => ({ key, values });

/** lineText returns the text of a line in the user's language. */
export const lineText = ({ key, values }: Line): string => t(key, ...values);

/** An OrderFormatter formats the values in an order. */
export interface OrderFormatter {
	/** All digits (unless the formatter is a short one), with the token's symbol. */
	amount(chainId: number, token: string, units: string): string;
	/** Of the network's native coin. */
	coin(chainId: number, wei: string): string;
	network(chainId: number): string;
	/** Joins names: "Ethereum and Base". */
	list(names: readonly string[]): string;
	/** The account's name, else the contract's, else the shortened address. */
	account(address: string): string;
	provider(kind: string): string;
	/** Who is trusted to settle; in the daemon's words if there is no message for it. */
	trusted(who: string): string;
	/** Time of day, with the date unless it is today. */
	time(time: string): string;
}
