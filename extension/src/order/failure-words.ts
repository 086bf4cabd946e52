import { filled } from "../i18n/filled";
import type { MessageKey } from "../i18n/keys";
import { sentence } from "../i18n/sentence";
import { textsAreEnglish, t } from "../i18n/t";
import { formatTime, formatSeconds } from "../i18n/time";
import { errors, type ErrorName } from "../wire/protocol";
import type { Failure } from "../wire/failure";

/** RefusalWords is the text of a refusal. */
export interface RefusalWords {
	title: string;
	/** Details; "" if the title says everything. */
	text: string;
	/** The daemon's own text, if the interface is not in English. */
	said?: string;
	/** Wire name of the wrong field, if there is no plain word for it. */
	field?: string;
	/** What the user can do. */
	do: string;
}

/** AmountFormatters are formatters of base units; one is absent if the token is unknown. */
export type AmountFormatters = {
	tokenIn?: (units: string) => string;
	tokenOut?: (units: string) => string;
	/** Of the network's native coin. */
	coin?: (wei: string) => string;
};

/** Words for the fields that a person chose or was shown, by their names in the wallet's and
 * the providers' formats (testdata/fields.json lists all). Other names are shown as they are. */
const fieldNames: Readonly<Record<string, MessageKey>> = {
	...named("field_amount_in", "amountIn", "amount", "input.amount", "input.maximumAmount", "sellAmount", "paymentDetails"),
	...named("field_token_in", "tokenIn", "token", "input.token", "sellToken", "sellTokens", "currencyIn", "fromToken"),
	...named("field_token_out", "tokenOut", "output.token", "buyToken", "buyTokens", "currencyOut", "toToken", "aggregatedOutputs.token"),
	...named("field_recipient", "recipient", "output.recipient", "receiver"),
	...named("field_refund_to", "refundTo"),
	...named("field_refund", "refund", "refundCurrency"),
	...named("field_slippage", "slippage", "slippageTolerance"),
	...named(
		"field_floor_out", "minOut", "minAmountOut", "minAmount", "minimumAmount", "minimum", "output.amount", "buyAmount",
		"amountOut", "aggregatedOutputs.amount", "outputs.amount", "receives",
	),
	...named("field_split", "aggregatedOutputs", "outputs"),
	...named("field_deadline", "deadline", "sigDeadline", "expiration", "expires", "expiry", "until", "exclusivityDeadline", "validBefore"),
	...named(
		"field_fee", "fee", "fees", "feeBps", "makerFeeBps", "feeReceiver", "appFees", "partnerFee", "partnerInfo", "partner_id", "protocolFee", "pays",
		"aggregatedOutputs.bps",
	),
	...named("field_spender", "spender", "approvalTarget"),
	...named("field_to", "to", "settler", "settlementAddress", "depository", "depositAddress", "reactor", "verifyingContract", "permitData.domain.verifyingContract"),
	...named("field_settled_by", "trustedTo", "settlement", "cosigner", "maker_address"),
	...named("field_data", "data", "commands", "actions", "hookData", "path", "transaction", "tx", "action", "method", "params", "type", "kind", "deposit", "steps", "step", "plan"),
	...named(
		"field_order", "order", "offer", "toSign", "typed", "message", "primaryType", "domain", "encodedOrder", "orderId", "orderData", "orderSignature", "solver", "onchainOrderType", "depositId", "nonce", "maker_nonce",
		"hooksHash", "packed_commands", "additionalValidationContract", "adjustmentPerGweiBaseFee", "curve", "outputs.curve", "requiredSignatures", "signature",
	),
	...named("field_routing", "routing", "tradeType", "route"),
	...named("field_value", "value"),
	...named("field_movements", "movements", "spends"),
	...named("field_allowance", "allowance", "approves", "approvals", "approve", "approvalType", "otherOrders"),
	...named("field_account", "account", "from", "sender", "swapper", "taker", "depositor", "author"),
	...named("field_network", "chainId", "srcChainId", "dstChainId", "fromChainId", "toChainId", "permitData.domain.chainId"),
	...named("field_gas_ceiling", "gasCeiling", "gas"),
	...named("field_isolated", "isolated"),
	...named("field_wrap", "wrap"),
	...named("field_permit", "permit", "permitData", "permitData.domain.name", "permitData.primaryType", "permitData.types", "permitData.values", "permitted", "permitTransaction"),
	...named("field_clock", "clock"),
};

function named(key: MessageKey, ...names: string[]): Record<string, MessageKey> {
	return Object.fromEntries(names.map((n) => [n, key]));
}

/** fieldsWithText lists the fields that have words. */
export const fieldsWithText: readonly string[] = Object.keys(fieldNames);

/** fieldWords returns a field in plain words; undefined if there are none. */
export function fieldWords(field: string): string | undefined {
	const key = Object.hasOwn(fieldNames, field) ? fieldNames[field] : undefined;
	return key && t(key);
}

/** Titles that name the field, for refusals about a field. */
const titlesOfField: Partial<Record<ErrorName, MessageKey>> = {
	not_as_accepted: "err_not_as_accepted_field", undecodable: "err_undecodable_field", not_pinned: "err_not_pinned_field",
	bad_request: "err_bad_request_field", provider_invalid_response: "err_provider_invalid_response_field",
};

/** Refusals whose message says more than the protocol's table. */
const ownMessageWins = new Set<ErrorName>([
	"not_as_accepted", "undecodable", "not_pinned", "would_revert", "simulation_unsupported", "provider_refused", "provider_down", "provider_invalid_response",
	"no_route", "no_minimum", "unsupported_route", "unsupported_network", "bad_request", "bad_params", "tx_rejected", "rpc_refused", "setting_refused", "setting_fixed",
	"internal", "not_exportable", "database_readonly", "database_full", "database_locked", "database_newer", "journal_failed", "network_unreachable", "rpc_disagree",
	"cannot_cancel", "amount_too_small", "consent_needed", "insufficient_funds", "keychain_denied", "keychain_broken", "version_mismatch", "bad_keystore",
]);

type Details = Failure["details"];

/** The details of a refusal in words; a falsy value if one of them is missing. */
const details: Partial<Record<ErrorName, (d: Details, a: AmountFormatters) => string | undefined>> = {
	insufficient_funds: (d, a) => filled("err_funds_promised", d, a) ?? filled("err_funds_missing", d, a),
	insufficient_gas: (d, a) => filled("err_gas_missing", d, a) ?? filled("err_gas_over", d, a),
	gas_ceiling: (d, a) => filled("err_gas_over", { ...d, max: d["needed"] }, a),
	price_refused: (d, a) => filled("err_price_impact", d, a),
	backing_off: (d) => d["seconds"] && t("err_wait_for", formatSeconds(Number(d["seconds"]))),
	provider_busy: (d) => d["retryAfterSeconds"] && t("err_wait_for", formatSeconds(Number(d["retryAfterSeconds"]))),
	cannot_cancel: (d) => d["until"] && t("err_until", formatTime(d["until"], "whole")),
	clock_skew: (d) => d["skewSeconds"] && t("err_skew", d["skewSeconds"]),
	password_required: (d) => d["address"] && t("err_address", d["address"]),
	not_a_token: (d) => d["reason"] && sentence(d["reason"]),
	network_ended: (d) => d["network"] && d["ended"] && t("err_ended", d["network"], formatTime(d["ended"], "dated")),
	token_unknown: (d) => d["token"] && t("err_address", d["token"]),
	setting_overridden: (d) => (d["name"] ? t("err_set_by", d["name"]) : undefined),
	setting_unknown: (d) => d["key"] && t("err_key", d["key"]),
	frame_too_long: (d) => d["length"] && d["most"] && t("err_length", d["length"], d["most"]),
	result_too_large: (d) => d["length"] && d["most"] && t("err_length", d["length"], d["most"]),
	version_mismatch: (d) => (d["update"] ? t(d["update"] === "client" ? "err_update_client" : "err_update_daemon") : undefined),
};

/** detailWords returns what a refusal's details say beyond its title; "" if nothing. */
export function detailWords(name: string | undefined, d: Details, amounts: AmountFormatters): string {
	const ours = name !== undefined && Object.hasOwn(details, name) ? details[name as ErrorName]?.(d, amounts) : undefined;
	return ours || figureWords(d, amounts);
}

/** figureWords returns the actual and the required amount of a refusal; "" if it is unknown
 * which token they are of. */
export function figureWords({ of, got, wanted }: Details, amounts: AmountFormatters): string {
	const write = of && Object.hasOwn(amounts, of) ? amounts[of as keyof AmountFormatters] : undefined;
	if (!write || !/^\d+$/.test(got ?? "")) return "";
	return wanted === undefined ? t("err_got", write(got!)) : t("err_got_wanted", write(got!), write(wanted));
}

/** refusalWords puts a refusal into plain words; for an error name that only a newer daemon
 * knows, the daemon's own text. */
export function refusalWords(failure: Failure, amounts: AmountFormatters = {}): RefusalWords {
	const name = failure.name as ErrorName;
	if (!Object.hasOwn(errors, name)) return unknownRefusal(failure);
	const field = failure.details["field"] ?? failure.details["parameter"];
	const words = field && fieldWords(field);
	const ours = details[name]?.(failure.details, amounts);
	const message = !ours && ownMessageWins.has(name) ? messageOf(failure, name) : "";
	return {
		title: titleOf(name, words),
		text: ours || [textsAreEnglish() && message, figureWords(failure.details, amounts)].filter(Boolean).join(" "),
		...(message && !textsAreEnglish() ? { said: message } : {}),
		...(field && !words ? { field } : {}),
		do: t(`err_${name}_do` as MessageKey),
	};
}

const titleOf = (name: ErrorName, field: string | undefined) => (field && titlesOfField[name] ? t(titlesOfField[name], field) : t(`err_${name}` as MessageKey));

/** errorTitle returns the first sentence of an error's title, without its full stop: the second is
 * about signatures. It is undefined for an error of a newer daemon. */
export function errorTitle(name: string, details: Details = {}): string | undefined {
	if (!Object.hasOwn(errors, name)) return undefined;
	return titleOf(name as ErrorName, details["field"] && fieldWords(details["field"])).replace(/\.( .*)?$/, "");
}

function unknownRefusal(failure: Failure): RefusalWords {
	const remedy = failure.remedy ? sentence(failure.remedy) : t(failure.retryable ? "err_try_again" : "err_update");
	return { title: t("err_unknown"), text: sentence(failure.message), do: remedy };
}

/** messageOf returns the message, unless it only repeats the protocol's table. */
function messageOf(failure: Failure, name: ErrorName): string {
	return failure.message === "" || failure.message === errors[name].means ? "" : sentence(failure.message);
}
