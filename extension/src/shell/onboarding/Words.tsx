import { useState } from "preact/hooks";
import { t } from "../../i18n/t";
import { Button } from "../../components/Button";
import { Field } from "../../components/Field";
import { Screen } from "../../components/Screen";
import { drawPlaces, wrongPlaces } from "./mnemonic";

interface ShownProps {
	words: readonly string[];
	/** From the daemon, for example that the phrase is a sandbox's. */
	warning: string | undefined;
	onWritten: () => void;
}

/** WordsShown shows the recovery phrase of a new wallet, once. It has no copy button
 * because every program can read the clipboard. */
export function WordsShown({ words, warning, onWritten }: ShownProps) {
	return (
		<Screen title={t("words_title")}>
			<p>{t("words_text")}</p>
			{warning && <p class="note warn">{warning}</p>}
			<ol class="words" aria-label={t("words_title")}>
				{words.map((word, i) => (
					<li key={i}>
						<span class="soft number">{i + 1}</span> <b>{word}</b>
					</li>
				))}
			</ol>
			<p class="note critical">{t("words_warning")}</p>
			<Button kind="main" onClick={onWritten}>
				{t("words_written")}
			</Button>
		</Screen>
	);
}

/** How many words are asked for. */
const asked = 3;

interface CheckProps {
	words: readonly string[];
	onBack: () => void;
	onDone: () => void;
}

/** WordsCheck asks for some of the words, to notice in time if they were not written down. */
export function WordsCheck({ words, onBack, onDone }: CheckProps) {
	const [places] = useState(() => drawPlaces(words.length, asked));
	const [typed, setTyped] = useState<readonly string[]>(() => places.map(() => ""));
	const [wrong, setWrong] = useState<readonly number[]>([]);
	function check() {
		const now = wrongPlaces(words, places, typed);
		setWrong(now);
		if (now.length === 0) onDone();
	}
	return (
		<Screen title={t("check_title")} onBack={onBack}>
			<p>{t("check_text")}</p>
			<form
				class="stack"
				onSubmit={(e) => {
					e.preventDefault();
					check();
				}}
			>
				{places.map((place, i) => (
					<Field
						key={place} label={t("check_word", place + 1)} value={typed[i] ?? ""}
						onInput={(word) => setTyped(typed.map((before, at) => (at === i ? word : before)))}
						wrong={wrong.includes(place) ? t("check_wrong", place + 1) : undefined}
					/>
				))}
				<Button kind="main" submit disabled={typed.some((word) => !word.trim())}>
					{t("continue")}
				</Button>
			</form>
			<Button kind="plain" onClick={onBack}>
				{t("check_again")}
			</Button>
		</Screen>
	);
}
