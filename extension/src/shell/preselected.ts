import type { Token } from "../wire/protocol";
import { store } from "../state/store";

/** preselected is the token to start a swap with, chosen on another screen. */
export const preselected = store<Token | undefined>(undefined);
