/** Logo is the wallet's own picture; its name stands beside it. */
export function Logo() {
	return <img class="logo" src="icons/128.png" width={64} height={64} alt="" />;
}
