package journal

import (
	"bytes"
	"encoding/binary"
	"slices"

	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	bolt "go.etcd.io/bbolt"
)

// writeGrants indexes the allowances granted by the steps that o finished since it was
// last stored. The order that granted an allowance last is the one indexed.
func writeGrants(w owner, was swap.Order, o *swap.Order) error {
	for _, k := range grantKeys(*o, len(was.Results)) {
		if err := w.take(grantBucket, k); err != nil {
			return err
		}
	}
	return nil
}

// grantKeys returns the keys of what o's finished steps granted, from step from on.
func grantKeys(o swap.Order, from int) (keys [][]byte) {
	for i, s := range o.Plan.Steps[:min(len(o.Results), len(o.Plan.Steps))] {
		if k, ok := grantedBy(o, s); ok && i >= from && !o.Results[i].Skipped {
			keys = append(keys, k)
		}
	}
	return keys
}

// grantedBy returns the key of the allowance that a step of o grants; ok is false if it grants
// none, as in a revoke.
func grantedBy(o swap.Order, s swap.Step) (key []byte, ok bool) {
	f := s.Effect
	if o.Terms.Provider == swap.Wallet || len(f.Approves) != 1 || f.Target != f.Approves[0].Token && f.Target != swap.Permit2Contract {
		return nil, false
	}
	return grantKey(o.Terms.From(), o.Terms.SrcChain, swap.GrantOf(f)), true
}

// grantKey returns the key of a grant in its bucket.
func grantKey(account common.Address, chainID uint64, g swap.Grant) []byte {
	k := binary.BigEndian.AppendUint64(slices.Clone(account[:]), chainID)
	return slices.Concat(k, g.Token[:], g.Spender[:], []byte(g.Kind))
}

// Grants returns every allowance that our orders granted for an account on a chain, with
// the order that did so last. It fails with ErrIndex rather than leave out an entry that
// cannot be read: an allowance missing here would not be checked.
func (j *Journal) Grants(account common.Address, chainID uint64) (map[swap.Grant]string, error) {
	all := map[swap.Grant]string{}
	prefix := grantKey(account, chainID, swap.Grant{})[:common.AddressLength+8]
	err := j.db.View(func(tx *bolt.Tx) error {
		c := tx.Bucket(grantBucket).Cursor()
		for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
			g, ok := readGrant(k)
			if !ok {
				return ErrIndex
			}
			all[g] = string(v)
		}
		return nil
	})
	return all, err
}

// readGrant decodes a key of the index of grants, as grantKey encodes it.
func readGrant(k []byte) (g swap.Grant, ok bool) {
	const token = common.AddressLength + 8
	const spender, kind = token + common.AddressLength, token + 2*common.AddressLength
	if len(k) < kind {
		return g, false
	}
	g = swap.Grant{Token: common.BytesToAddress(k[token:spender]), Spender: common.BytesToAddress(k[spender:kind]), Kind: swap.AllowanceKind(k[kind:])}
	return g, g.Kind == swap.ByToken || g.Kind == swap.ByPermit2
}
