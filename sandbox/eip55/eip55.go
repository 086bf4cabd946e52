// Package eip55 provides addresses that marshal to JSON with the EIP-55 checksum.
package eip55

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// An Address is marshalled with its checksum and unmarshalled in any letter case.
type Address common.Address

// MarshalText returns the checksummed form.
func (a Address) MarshalText() ([]byte, error) { return []byte(common.Address(a).Hex()), nil }

// UnmarshalText reads 40 hex digits, with or without 0x.
func (a *Address) UnmarshalText(text []byte) error {
	if !common.IsHexAddress(string(text)) {
		return fmt.Errorf("no address: %q", text)
	}
	*a = Address(common.HexToAddress(string(text)))
	return nil
}
