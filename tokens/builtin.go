package tokens

import (
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"sync"

	"github.com/ethereum/go-ethereum/common"
)

//go:generate go run ./gen
//go:generate node gen/marks.mjs

// seed are the tokens chosen by hand, listed those of published lists, which package gen
// reads and sorts. No token is in both. marks says which have a drawing.
var (
	//go:embed seed.json
	seed []byte
	//go:embed listed.json
	listed []byte
	//go:embed marks.json
	marks []byte
)

// Builtin returns the list that is compiled in, each network's tokens in the order in which
// people are likely to look for them. All are recognized, those chosen by hand verified too,
// and only these have native coins. It is read once, at the first call; callers share it.
var Builtin = sync.OnceValue(readBuiltin)

func readBuiltin() *List {
	l, err := parse(seed, true)
	if err != nil {
		panic(err) // the files are our own, and tested
	}
	for i := range l.tokens {
		l.tokens[i].Verified, l.tokens[i].DecimalsFrom = true, FromBuiltin
	}
	var more struct{ Tokens []listedToken }
	if err := json.Unmarshal(listed, &more); err != nil {
		panic(err)
	}
	for _, row := range more.Tokens {
		l.tokens = append(l.tokens, row.token(l.Name))
	}
	var drawn struct{ Marks map[string]string }
	if err := json.Unmarshal(marks, &drawn); err != nil {
		panic(err)
	}
	for i := range l.tokens {
		t := &l.tokens[i]
		t.Par = Par(t.Symbol)
		t.Recognized, t.Mark = true, drawn.Marks[strconv.FormatUint(t.Chain, 10)+":0x"+hex.EncodeToString(t.Address[:])] // without its checksum, which takes long
	}
	return l
}

// A listedToken is a token of listed.json.
type listedToken struct {
	ChainID  uint64
	Address  common.Address
	Symbol   string
	Name     string
	Decimals uint8
	Lists    string // a letter for each published list that has it
}

// token returns the row as a token. Decimals that two lists agree on are nobody's invention.
func (row listedToken) token(list string) Token {
	t := Token{Chain: row.ChainID, Address: row.Address, Symbol: row.Symbol, Name: row.Name, Decimals: row.Decimals, List: list}
	if len(row.Lists) > 1 {
		t.DecimalsFrom = FromBuiltin
	}
	return t
}
