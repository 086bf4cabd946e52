// Package eip55 has an address that JSON shows with the checksum of EIP-55.
package eip55

import (
	"fmt"

	"github.com/ethereum/go-ethereum/common"
)

// An Address is written with its checksum and read in any letter case.
type Address common.Address

// MarshalText writes the checksummed form.
func (a Address) MarshalText() ([]byte, error) { return []byte(common.Address(a).Hex()), nil }

// UnmarshalText reads 40 hex digits, with or without 0x.
func (a *Address) UnmarshalText(text []byte) error {
	if !common.IsHexAddress(string(text)) {
		return fmt.Errorf("no address: %q", text)
	}
	*a = Address(common.HexToAddress(string(text)))
	return nil
}
