import brands from "../../messages/brands.json";
import { optionalMessage, t } from "./t";

/** The brands of each kind of provider, from the table that the terminal reads too. */
const brandsOfKind: Readonly<Record<string, readonly string[]>> = brands;

/** brandOf returns the brand of a kind of provider; undefined if it has none. */
export function brandOf(kind: string): string | undefined {
	return Object.hasOwn(brandsOfKind, kind) ? brandsOfKind[kind]![0] : undefined;
}

/** kindName returns a kind of provider alone, such as "Bridge". */
export function kindName(kind: string): string {
	return optionalMessage(`provider_${kind}`) ?? kind;
}

/** providerName returns a kind of provider with its brand, such as "Bridge (Relay)". */
export function providerName(kind: string): string {
	const name = kindName(kind);
	const brand = brandOf(kind);
	return brand ? t("provider_brand", name, brand) : name;
}
