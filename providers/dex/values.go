package dex

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"swapkeep/providers/wire"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/common/math"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/signer/core/apitypes"
)

// values are a struct's members by name, as its EIP-712 type declares them: addresses are
// [common.Address], numbers *big.Int, bytes []byte, structs values and arrays []any. A
// struct has the same values whether it is read from JSON or from its ABI encoding; they
// are what is compared, hashed and signed.
type values map[string]any

// readTree reads JSON into maps, lists, strings and [json.Number]s.
func readTree(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("bytes after the end")
	}
	return tree, nil
}

// readValues reads a struct of the named type from decoded JSON, or from the message of
// typed data. Every member must be there in its own form, and no other.
func readValues(types apitypes.Types, name string, tree any) (values, error) {
	fields, ok := tree.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: not an object", name)
	}
	out := values{}
	for _, m := range types[name] {
		v, ok := fields[m.Name]
		if !ok {
			return nil, fmt.Errorf("%s: %s is missing", name, m.Name)
		}
		var err error
		if out[m.Name], err = readValue(types, m.Type, v); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, m.Name, err)
		}
	}
	if len(fields) != len(out) {
		return nil, fmt.Errorf("%s: a member that is not of the type", name)
	}
	return out, nil
}

// maxElements bounds every array of an order: a curve has at most sixteen points.
const maxElements = 16

func readValue(types apitypes.Types, kind string, tree any) (any, error) {
	if of, ok := strings.CutSuffix(kind, "[]"); ok {
		list, ok := tree.([]any)
		if !ok || len(list) > maxElements {
			return nil, fmt.Errorf("not a list of at most %d", maxElements)
		}
		out := make([]any, len(list))
		for i, e := range list {
			var err error
			if out[i], err = readValue(types, of, e); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	if _, ok := types[kind]; ok {
		return readValues(types, kind, tree)
	}
	return readScalar(kind, tree)
}

// readScalar reads one value of a built-in Solidity type.
func readScalar(kind string, tree any) (any, error) {
	s, isText := tree.(string)
	switch {
	case kind == "address" && (!isText || !common.IsHexAddress(s)):
		return nil, fmt.Errorf("not an address")
	case kind == "address":
		return common.HexToAddress(s), nil
	case kind == "bytes" && !isText:
		return nil, fmt.Errorf("not bytes")
	case kind == "bytes":
		return hexutil.Decode(s)
	}
	if n, ok := tree.(json.Number); ok {
		s, isText = n.String(), true
	}
	if !isText {
		return nil, fmt.Errorf("not a number")
	}
	return readInteger(kind, s)
}

// readInteger reads uint<bits> and int<bits> in decimal. The API writes a deadline
// as a JSON number and the rest as strings.
func readInteger(kind, s string) (*big.Int, error) {
	size, unsigned := strings.CutPrefix(kind, "uint")
	if !unsigned {
		size = strings.TrimPrefix(kind, "int")
	}
	bits, err := strconv.Atoi(size)
	if err != nil {
		return nil, fmt.Errorf("of unknown type %s", kind)
	}
	negative := false
	if !unsigned {
		s, negative = strings.CutPrefix(s, "-")
		bits--
	}
	n, err := wire.ParseNumber(s, 10)
	if err != nil {
		return nil, err
	}
	if n.BitLen() > bits {
		return nil, fmt.Errorf("a number of more than %d bits", bits)
	}
	if negative {
		n.Neg(n)
	}
	return n, nil
}

// hash returns the EIP-712 hash of the values as a struct of the named type.
func (v values) hash(types map[string]hashedType, name string) common.Hash {
	t := types[name]
	data := make([]byte, 0, 32*(len(t.members)+1))
	data = append(data, t.hash[:]...)
	for _, m := range t.members {
		data = append(data, word(types, m.Type, v[m.Name])...)
	}
	return crypto.Keccak256Hash(data)
}

// word returns a value as it is encoded for the hash of its struct.
func word(types map[string]hashedType, kind string, v any) []byte {
	switch v := v.(type) {
	case common.Address:
		return common.LeftPadBytes(v[:], 32)
	case *big.Int:
		return math.U256Bytes(new(big.Int).Set(v))
	case []byte:
		return crypto.Keccak256(v)
	case values:
		h := v.hash(types, kind)
		return h[:]
	case []any:
		var all []byte
		for _, e := range v {
			all = append(all, word(types, strings.TrimSuffix(kind, "[]"), e)...)
		}
		return crypto.Keccak256(all)
	}
	panic(fmt.Sprintf("a value of type %T", v)) // readScalar makes no other
}

// A hashedType is a struct's members and its EIP-712 type hash.
type hashedType struct {
	hash    common.Hash
	members []apitypes.Type
}

func hashedTypes(types apitypes.Types) map[string]hashedType {
	d := apitypes.TypedData{Types: types}
	out := make(map[string]hashedType, len(types))
	for name, members := range types {
		out[name] = hashedType{common.BytesToHash(d.TypeHash(name)), members}
	}
	return out
}

// message returns the struct as typed data: every value is a string, a list or a message,
// so that it comes back from storage unchanged.
func (v values) message() map[string]any {
	out := make(map[string]any, len(v))
	for name, m := range v {
		out[name] = toJSONValue(m)
	}
	return out
}

func toJSONValue(v any) any {
	switch v := v.(type) {
	case common.Address:
		return v.Hex()
	case *big.Int:
		return v.String()
	case []byte:
		return hexutil.Encode(v)
	case values:
		return v.message()
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = toJSONValue(e)
		}
		return out
	}
	return v
}

// same reports whether two structs have the same values.
func (v values) same(w values) bool {
	if len(v) != len(w) {
		return false
	}
	for name, m := range v {
		if n, ok := w[name]; !ok || !equalValues(m, n) {
			return false
		}
	}
	return true
}

func equalValues(v, w any) bool {
	switch v := v.(type) {
	case common.Address:
		return v == w
	case *big.Int:
		w, ok := w.(*big.Int)
		return ok && v.Cmp(w) == 0
	case []byte:
		w, ok := w.([]byte)
		return ok && bytes.Equal(v, w)
	case values:
		w, ok := w.(values)
		return ok && v.same(w)
	case []any:
		w, ok := w.([]any)
		return ok && slices.EqualFunc(v, w, equalValues)
	}
	return false
}

// encodedForm returns the ABI type of a struct as a function's only argument.
func encodedForm(types apitypes.Types, name string) abi.Arguments {
	typ, err := abi.NewType("tuple", "", components(types, name))
	if err != nil {
		panic(err) // our own table
	}
	return abi.Arguments{{Type: typ}}
}

func components(types apitypes.Types, name string) []abi.ArgumentMarshaling {
	var out []abi.ArgumentMarshaling
	for _, m := range types[name] {
		of, array := strings.CutSuffix(m.Type, "[]")
		a := abi.ArgumentMarshaling{Name: m.Name, Type: m.Type}
		if _, ok := types[of]; ok {
			a.Type, a.Components = "tuple", components(types, of)
			if array {
				a.Type = "tuple[]"
			}
		}
		out = append(out, a)
	}
	return out
}

// decoded converts what the abi package made of a struct into values.
func decoded(types apitypes.Types, name string, v reflect.Value) values {
	out := values{}
	for i, m := range types[name] {
		out[m.Name] = decodedValue(types, m.Type, v.Field(i))
	}
	return out
}

func decodedValue(types apitypes.Types, kind string, v reflect.Value) any {
	if of, ok := strings.CutSuffix(kind, "[]"); ok {
		out := make([]any, v.Len())
		for i := range out {
			out[i] = decodedValue(types, of, v.Index(i))
		}
		return out
	}
	if _, ok := types[kind]; ok {
		return decoded(types, kind, v)
	}
	return v.Interface()
}
