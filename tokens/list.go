package tokens

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/url"
	"regexp"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/ethereum/go-ethereum/common"
)

// MaxListBytes bounds the size of a list.
const MaxListBytes = 4 << 20

// ErrList means that a text is not a token list. The error that wraps it says where.
var ErrList = errors.New("not a token list as tokenlists.org describes it")

// A List is a token list. Logos, tags and extensions are checked and dropped: fetching a
// logo would tell another host what a user holds, and nothing here depends on a tag.
type List struct {
	Name      string
	Version   [3]uint64 // major, minor, patch
	Timestamp time.Time
	tokens    []Token
}

// ParseList parses a list of at most [MaxListBytes]. It refuses what the schema refuses,
// a duplicate token, one with more than MaxDecimals decimals, and one whose symbol or
// name has no visible character. Native coins, however written, are left out: those are
// built in. Errors: ErrList.
func ParseList(text []byte) (*List, error) { return parse(text, false) }

// Len returns the number of tokens.
func (l *List) Len() int { return len(l.tokens) }

// Tokens returns the list's tokens in its order. The caller owns the result.
func (l *List) Tokens() []Token { return slices.Clone(l.tokens) }

// The schema as Go types. Pointers distinguish missing values from zero.
type (
	listJSON struct {
		Name      string                     `json:"name"`
		Timestamp string                     `json:"timestamp"`
		Version   *versionJSON               `json:"version"`
		Tokens    []tokenJSON                `json:"tokens"`
		TokenMap  json.RawMessage            `json:"tokenMap"` // repeats tokens; not read
		Keywords  []string                   `json:"keywords"`
		Tags      map[string]json.RawMessage `json:"tags"`
		LogoURI   string                     `json:"logoURI"`
	}
	versionJSON struct{ Major, Minor, Patch *uint64 }
	tagJSON     struct{ Name, Description string }
	tokenJSON   struct {
		ChainID    uint64                     `json:"chainId"`
		Address    string                     `json:"address"`
		Symbol     string                     `json:"symbol"`
		Name       string                     `json:"name"`
		Decimals   *uint64                    `json:"decimals"`
		LogoURI    string                     `json:"logoURI"`
		Tags       []string                   `json:"tags"`
		Extensions map[string]json.RawMessage `json:"extensions"`
	}
)

// The schema's limits, in characters or entries.
const (
	maxListName    = 30
	maxTokens      = 10_000
	maxKeywords    = 20
	maxTags        = 20
	maxTokenTags   = 10
	maxExtensions  = 10
	maxNesting     = 3 // of extensions, including the outermost
	maxDescription = 200
)

var (
	wordsForm     = regexp.MustCompile(`^[\w ]+$`)
	tagForm       = regexp.MustCompile(`^\w{1,10}$`)
	extensionForm = regexp.MustCompile(`^\w{1,40}$`)
	addressForm   = regexp.MustCompile(`^0x[0-9a-fA-F]{40}$`)
)

func parse(text []byte, builtin bool) (*List, error) {
	if len(text) > MaxListBytes {
		return nil, fmt.Errorf("%w: over %d bytes", ErrList, MaxListBytes)
	}
	var raw listJSON
	if err := decodeStrict(text, &raw); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrList, err)
	}
	l, err := raw.head()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrList, err)
	}
	seen := make(map[id]bool, len(raw.Tokens))
	for i, row := range raw.Tokens {
		t, err := row.token()
		if err == nil && seen[t.id()] {
			err = errors.New("stands twice")
		}
		if err != nil {
			return nil, fmt.Errorf("%w: token %d, %q on chain %d: %w", ErrList, i+1, clean(row.Address, 42), row.ChainID, err)
		}
		seen[t.id()] = true
		if native := t.Address == Native || t.Address == nativePlaceholder; native && !builtin {
			continue
		}
		t.List = l.Name
		l.tokens = append(l.tokens, t)
	}
	return l, nil
}

// decodeStrict decodes one JSON value and refuses members that its type lacks.
func decodeStrict(text []byte, into any) error {
	if !utf8.Valid(text) {
		return errors.New("not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	return nil
}

// head checks everything but the tokens.
func (raw *listJSON) head() (*List, error) {
	at, err := time.Parse(time.RFC3339, raw.Timestamp)
	v := raw.Version
	switch {
	case !wordsForm.MatchString(raw.Name) || len(raw.Name) > maxListName:
		return nil, fmt.Errorf("name: 1 to %d letters, digits and spaces", maxListName)
	case err != nil:
		return nil, errors.New("timestamp: a date and time")
	case v == nil || v.Major == nil || v.Minor == nil || v.Patch == nil || max(*v.Major, *v.Minor, *v.Patch) > math.MaxInt32:
		return nil, errors.New("version: major, minor and patch")
	case len(raw.Tokens) == 0 || len(raw.Tokens) > maxTokens:
		return nil, fmt.Errorf("tokens: 1 to %d", maxTokens)
	case len(raw.Keywords) > maxKeywords || len(raw.Tags) > maxTags:
		return nil, errors.New("too many keywords or tags")
	}
	for _, k := range raw.Keywords {
		if !wordsForm.MatchString(k) || len(k) > 20 {
			return nil, errors.New("keywords: letters, digits and spaces")
		}
	}
	for name, text := range raw.Tags {
		var tag tagJSON
		if err := decodeStrict(text, &tag); err != nil || !tagForm.MatchString(name) || tag.Name == "" || tag.Description == "" ||
			len(tag.Name) > 20 || len(tag.Description) > maxDescription {
			return nil, errors.New("tags: each a word with name and description")
		}
	}
	return &List{Name: raw.Name, Version: [3]uint64{*v.Major, *v.Minor, *v.Patch}, Timestamp: at.UTC()}, checkURI(raw.LogoURI)
}

// token checks and converts one row.
func (row *tokenJSON) token() (Token, error) {
	t := Token{Chain: row.ChainID, Symbol: clean(row.Symbol, maxSymbol), Name: clean(row.Name, maxName)}
	switch {
	case row.ChainID == 0 || row.ChainID > math.MaxInt64:
		return t, errors.New("chainId: a number above zero")
	case !addressForm.MatchString(row.Address):
		return t, errors.New("address: 0x and 40 hex digits")
	case row.Decimals == nil || *row.Decimals > MaxDecimals:
		return t, fmt.Errorf("decimals: 0 to %d", MaxDecimals)
	case t.Symbol == "" || utf8.RuneCountInString(row.Symbol) > maxSymbol:
		return t, fmt.Errorf("symbol: 1 to %d characters that can be seen", maxSymbol)
	case t.Name == "" || utf8.RuneCountInString(row.Name) > maxName:
		return t, fmt.Errorf("name: 1 to %d characters that can be seen", maxName)
	case len(row.Tags) > maxTokenTags:
		return t, errors.New("too many tags")
	}
	for _, tag := range row.Tags {
		if !tagForm.MatchString(tag) {
			return t, errors.New("tags: each a word")
		}
	}
	t.Address, t.Decimals = common.HexToAddress(row.Address), uint8(*row.Decimals)
	if err := checkExtensions(row.Extensions, maxNesting); err != nil {
		return t, err
	}
	return t, checkURI(row.LogoURI)
}

// checkURI checks a URI that may be absent.
func checkURI(s string) error {
	if s == "" {
		return nil
	}
	if u, err := url.Parse(s); err != nil || u.Scheme == "" || len(s) > 2048 {
		return errors.New("logoURI: not a URI")
	}
	return nil
}

// checkExtensions bounds what the schema leaves open.
func checkExtensions(all map[string]json.RawMessage, depth int) error {
	if len(all) > maxExtensions || depth == 0 {
		return errors.New("extensions: too many, or nested too deep")
	}
	for name, value := range all {
		switch {
		case !extensionForm.MatchString(name):
			return errors.New("extensions: each name a word")
		case value[0] == '[':
			return errors.New("extensions: no lists")
		case value[0] != '{':
			continue
		}
		var inner map[string]json.RawMessage
		if err := json.Unmarshal(value, &inner); err != nil {
			return errors.New("extensions: not an object")
		}
		if err := checkExtensions(inner, depth-1); err != nil {
			return err
		}
	}
	return nil
}
