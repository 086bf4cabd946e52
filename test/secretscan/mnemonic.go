package secretscan

import "bytes"

const (
	// minRunWords words in a row are no coincidence.
	minRunWords = 3
	// minWordLen and maxWordLen are in letters. BIP-39's words are within them; shorter
	// words are taken for numbering between the words.
	minWordLen, maxWordLen = 3, 8
	// maxWordGap is how many bytes may separate two words of a run.
	maxWordGap = 24
	// maxRunBytes is how many bytes a run that spans two chunks may take.
	maxRunBytes = minRunWords*maxWordLen + minRunWords*maxWordGap
)

// A mnemonic is searched for as runs of its words.
type mnemonic struct {
	secret    string
	positions map[string][]int // positions of each word
}

func mnemonicOf(s Secret) mnemonic {
	m := mnemonic{s.name, map[string][]int{}}
	for i, word := range bytes.Fields(bytes.ToLower(s.value)) {
		m.positions[string(word)] = append(m.positions[string(word)], i)
	}
	return m
}

// A run maps the last word's position in the mnemonic to the number of matching words.
type run map[int]int

// scanMnemonics reads b as words, whatever separates them.
func scanMnemonics(all []mnemonic, b []byte, report func(Finding)) {
	runs := make([]run, len(all))
	word := make([]byte, 0, maxWordLen)
	for i, last := 0, 0; i < len(b); {
		if !letter(b[i]) {
			i++
			continue
		}
		start := i
		for i < len(b) && letter(b[i]) {
			i++
		}
		if i-start < minWordLen {
			continue
		}
		if start-last > maxWordGap {
			clear(runs)
		}
		last = i
		word = word[:0]
		for _, c := range b[start:min(i, start+maxWordLen+1)] {
			word = append(word, c|0x20)
		}
		for n, m := range all {
			runs[n] = runs[n].next(m.positions[string(word)])
			if runs[n].longest() >= minRunWords {
				report(Finding{Secret: m.secret, Encoding: "words in a row", Offset: int64(start)})
			}
		}
	}
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// next returns the run after one more word, which has these positions in the mnemonic; nil
// means no match.
func (r run) next(places []int) run {
	if len(places) == 0 {
		return nil
	}
	after := run{}
	for _, p := range places {
		after[p] = r[p-1] + 1
	}
	return after
}

func (r run) longest() (n int) {
	for _, l := range r {
		n = max(n, l)
	}
	return n
}
