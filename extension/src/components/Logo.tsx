/** Logo is the wallet's logo, without alternative text, as the name is next to it. */
export function Logo() {
	return <img class="logo" src="icons/128.png" width={64} height={64} alt="" />;
}
