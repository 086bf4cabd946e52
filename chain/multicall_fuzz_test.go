package chain

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// FuzzMulticallAnswers checks that, whatever a node returns for a common call, there is
// one answer for each question or none at all, each contained in the returned bytes, and
// that answers survive encoding and decoding.
func FuzzMulticallAnswers(f *testing.F) {
	honest := [][]multicallResult{
		{}, {{true, bigHash(77).Bytes()}}, {{true, nil}, {false, []byte{8}}, {true, bytes.Repeat([]byte{7}, 70)}},
	}
	for _, results := range honest {
		out := pack(f, results)
		f.Add(out, uint8(len(results)))
		f.Add(out, uint8(len(results)+1))
		f.Add(append(out, 1), uint8(len(results)))
		f.Add(out[:len(out)-1], uint8(len(results)))
		for at := 0; at+32 <= min(len(out), 8*32); at += 32 { // each word replaced: another value, too large, pointing nowhere or at itself
			for _, word := range []uint64{0, 1, 2, 32, 1 << 31, 1<<63 - 1, 1<<64 - 1} {
				lie := bytes.Clone(out)
				binary.BigEndian.PutUint64(lie[at+24:], word)
				f.Add(lie, uint8(len(results)))
			}
			f.Add(append(append(bytes.Clone(out[:at]), bytes.Repeat([]byte{0xff}, 32)...), out[at+32:]...), uint8(len(results)))
		}
	}
	f.Fuzz(func(t *testing.T, out []byte, questions uint8) {
		answers, err := answersOf(out, int(questions))
		if err != nil {
			if answers != nil {
				t.Fatalf("answers beside %v", err)
			}
			return
		}
		if len(answers) != int(questions) {
			t.Fatalf("%d answers to %d questions", len(answers), questions)
		}
		results := make([]multicallResult, len(answers))
		for i, a := range answers {
			if !bytes.Contains(out, a) {
				t.Fatalf("answer %d is not in what came: %x", i, a)
			}
			results[i] = multicallResult{a != nil, a}
		}
		again, err := answersOf(pack(t, results), len(results))
		if err != nil {
			t.Fatalf("read again: %v", err)
		}
		for i := range answers {
			if !bytes.Equal(answers[i], again[i]) || (answers[i] == nil) != (again[i] == nil) {
				t.Fatalf("answer %d is %x, then %x", i, answers[i], again[i])
			}
		}
	})
}

// pack encodes results as Multicall3 returns them.
func pack(t testing.TB, results []multicallResult) []byte {
	t.Helper()
	out, err := aggregate3().Methods["aggregate3"].Outputs.Pack(results)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
