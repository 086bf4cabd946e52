import type { Token } from "../wire/protocol";
import { store } from "../state/store";

/** preselected is the token that a swap shall begin with, chosen on another screen. */
export const preselected = store<Token | undefined>(undefined);
