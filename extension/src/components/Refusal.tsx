import type { Failure } from "../wire/failure";
import { t } from "../i18n/t";
import { SaidView } from "../order/CauseView";
import { type AmountFormatters, refusalWords } from "../order/failure-words";

interface Props {
	failure: Failure;
	/** Formats the amounts in the error's details, if their token is known. */
	amounts?: AmountFormatters;
}

/** Refusal shows why something was refused, and what to do about it. */
export function Refusal({ failure, amounts }: Props) {
	const { title, text, said, field, do: todo } = refusalWords(failure, amounts);
	return (
		<div class="note critical refusal" role="alert">
			<strong>{title}</strong>
			{text && <p>{text}</p>}
			{said && (
				<p>
					<SaidView said={{ by: "wallet", words: said }} />
				</p>
			)}
			{field && (
				<p class="small">
					{t("refusal_field")} <code>{field}</code>
				</p>
			)}
			<p>{todo}</p>
		</div>
	);
}
