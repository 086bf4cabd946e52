/** Most characters of a wallet's or an account's name. */
const most = 32;

/** nameTooLong as the daemon counts. */
export function nameTooLong(name: string): boolean {
	return [...name.trim()].length > most;
}
