/** Maximum length of a wallet or account name, in characters. */
const most = 32;

/** nameTooLong counts characters as the daemon does. */
export function nameTooLong(name: string): boolean {
	return [...name.trim()].length > most;
}
