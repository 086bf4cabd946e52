package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/ethereum/go-ethereum/common"
)

// A token is a row of a list, and of listed.json.
type token struct {
	Chain    uint64         `json:"chainId"`
	Address  common.Address `json:"address"`
	Symbol   string         `json:"symbol"`
	Name     string         `json:"name"`
	Decimals uint64         `json:"decimals"`
	Lists    string         `json:"lists"` // the letters of the sources that have it
	// Reach is on how many networks, also ones that we do not have, a source that is not open
	// has a token of that symbol.
	Reach int `json:"reach"`
}

// MarshalJSON writes the address with its checksum, by which a mistyped one is noticed.
func (t token) MarshalJSON() ([]byte, error) {
	type plain token
	return json.Marshal(struct {
		Chain   uint64 `json:"chainId"`
		Address string `json:"address"`
		plain
	}{t.Chain, t.Address.Hex(), plain(t)})
}

// tokenList reads a list in the format of tokenlists.org, of which a tag may choose tokens.
func tokenList(file, tag string) func(string) ([]token, error) {
	return func(dir string) ([]token, error) {
		var list struct {
			Tokens []struct {
				token
				Address string `json:"address"` // of some networks without hex digits
				Tags    []string
			}
		}
		if err := readJSON(filepath.Join(dir, file), &list); err != nil {
			return nil, err
		}
		var out []token
		for _, row := range list.Tokens {
			if common.IsHexAddress(row.Address) && (tag == "" || slices.Contains(row.Tags, tag)) {
				row.token.Address = common.HexToAddress(row.Address)
				out = append(out, row.token)
			}
		}
		return out, nil
	}
}

// monadFile holds what the chain's own list says of symbols, names and decimals.
const monadFile = "monad.json"

func monad(dir string) ([]token, error) { return tokenList(monadFile, "")(dir) }

// superchain reads the list of the OP chains, which is a script.
func superchain(dir string) (out []token, err error) {
	err = evaluate(filepath.Join(dir, "dist/index.js"), "m.default.tokens.map(({chainId, address, symbol, name, decimals}) => ({chainId, address, symbol, name, decimals}))", &out)
	return out, err
}

// across reads the bridge's tokens. It calls a wrapped native coin by the coin's name too.
func across(dir string) (out []token, err error) {
	err = evaluate(filepath.Join(dir, "dist/cjs/tokens.js"), `Object.values(m.TOKEN_SYMBOLS_MAP).flatMap(t => Object.entries(t.addresses)
		.filter(([, address]) => /^0x[0-9a-fA-F]{40}$/.test(address))
		.map(([chainId, address]) => ({chainId: Number(chainId), address, symbol: t.symbol, name: t.name, decimals: t.decimals})))`, &out)
	return out, err
}

// evaluate loads a script of a package as m, and decodes what an expression makes of it.
func evaluate(file, expression string, into any) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	out, err := exec.Command("node", "-e", "const m = require(process.argv[1]); process.stdout.write(JSON.stringify("+expression+"))", file).Output()
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// contractMap reads MetaMask's list, of Ethereum.
func contractMap(dir string) ([]token, error) {
	var rows map[common.Address]struct {
		token
		ERC20 bool
	}
	err := readJSON(filepath.Join(dir, "contract-map.json"), &rows)
	var out []token
	for a, row := range rows {
		if row.ERC20 {
			row.Chain, row.Address = 1, a
			out = append(out, row.token)
		}
	}
	return out, err
}

// pancakeChains are the names of networks in PancakeSwap's source.
var pancakeChains = map[string]uint64{"ETHEREUM": 1, "BSC": 56, "BASE": 8453, "ARBITRUM_ONE": 42161, "MONAD_MAINNET": 143}

// pancakeToken matches a token in PancakeSwap's source.
var pancakeToken = regexp.MustCompile(`new ERC20Token\(\s*ChainId\.(\w+),\s*'(0x[0-9a-fA-F]{40})',\s*(\d+),\s*'([^']+)',\s*['"]([^'"]+)['"]`)

func pancake(dir string) (out []token, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "src/constants/*.ts"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no source in %s", dir)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, m := range pancakeToken.FindAllSubmatch(raw, -1) {
			decimals, err := strconv.ParseUint(string(m[3]), 10, 8)
			if err != nil {
				return nil, err
			}
			if chain, ok := pancakeChains[string(m[1])]; ok {
				out = append(out, token{Chain: chain, Address: common.HexToAddress(string(m[2])), Symbol: string(m[4]), Name: string(m[5]), Decimals: decimals})
			}
		}
	}
	return out, err
}

// seedOf reads the tokens chosen by hand.
func seedOf(file string) ([]token, error) {
	var list struct{ Tokens []token }
	err := readJSON(file, &list)
	return list.Tokens, err
}

func readJSON(file string, into any) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
