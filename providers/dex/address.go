package dex

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// An address is 40 hex digits in any case, with or without 0x, as in the API's schema.
type address struct{ common.Address }

func (a *address) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("address: %w", err)
	}
	if !common.IsHexAddress(s) {
		return errors.New("not an address")
	}
	a.Address = common.HexToAddress(s)
	return nil
}

func (a *address) is(want common.Address) bool { return a != nil && a.Address == want }
