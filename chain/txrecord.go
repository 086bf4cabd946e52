package chain

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
)

// TxState is the state of a journaled transaction.
//
//	signed ──> sent ──> mined | reverted | cancelled | replaced
//	   └────> rejected
//
// A signed transaction may also go straight to every end of a sent one: receipts decide,
// not what nodes answered.
type TxState string

// The states of a transaction.
const (
	TxSigned    TxState = "signed"    // journaled; may or may not have been broadcast
	TxSent      TxState = "sent"      // a node said that it has it
	TxMined     TxState = "mined"     // the call succeeded, at depth
	TxReverted  TxState = "reverted"  // the call failed on chain, at depth
	TxCancelled TxState = "cancelled" // our cancelling transaction took its nonce, at depth
	TxReplaced  TxState = "replaced"  // a transaction that is not ours took its nonce, at depth
	TxRejected  TxState = "rejected"  // no node queued it; its nonce is free
	TxUnknown   TxState = "unknown"   // written by a newer version; shown, never acted on
)

// openStates are the states that are not final, onChainStates those with a mined attempt. A state
// that this version does not know is in neither, and nothing is done about it.
var (
	openStates    = []TxState{TxSigned, TxSent}
	onChainStates = []TxState{TxMined, TxReverted, TxCancelled}
)

// Final reports whether nothing more will be done in state s.
func (s TxState) Final() bool { return !slices.Contains(openStates, s) }

// AttemptKind says what an attempt's bytes do.
type AttemptKind string

// The kinds of attempt.
const (
	AttemptCall   AttemptKind = "call"   // the call itself
	AttemptBump   AttemptKind = "bump"   // the call itself, for higher fees
	AttemptCancel AttemptKind = "cancel" // an empty transaction on the same nonce
)

// An Attempt is one set of signed bytes for a transaction's nonce.
type Attempt struct {
	Kind   AttemptKind   `json:"kind"`
	Raw    hexutil.Bytes `json:"raw"`
	Hash   common.Hash   `json:"hash"`
	FeeCap *hexutil.Big  `json:"feeCap"` // wei per gas
	TipCap *hexutil.Big  `json:"tipCap"` // wei per gas
	Signed time.Time     `json:"signed"`
	Until  time.Time     `json:"until"` // deadline for broadcasting it
}

// A Tx is the record of one key: a call, its nonce, and everything ever signed for that
// nonce. At most one attempt can be mined.
type Tx struct {
	Version       int         `json:"v"`
	Key           string      `json:"key"`
	FillerFor     string      `json:"fillerFor,omitempty"` // key of the transaction that a filler was made for
	Call          Call        `json:"call"`
	Policy        Policy      `json:"policy"`
	Nonce         uint64      `json:"nonce"`
	SignedAtBlock uint64      `json:"signedAtBlock"` // latest block when it was signed
	Attempts      []Attempt   `json:"attempts"`
	State         TxState     `json:"state"`
	Mined         common.Hash `json:"mined,omitzero"`   // hash of the attempt that is on the chain
	Reason        string      `json:"reason,omitempty"` // why it was rejected, or which hosts say that it was replaced; else the last error of the nodes

	Depth uint64 `json:"-"` // confirmations of an attempt at the last poll; 0 = in no block
}

// Last returns the latest attempt.
func (tx *Tx) Last() Attempt { return tx.Attempts[len(tx.Attempts)-1] }

// MinedTransaction returns the attempt that is on the chain, decoded from its bytes.
func (tx *Tx) MinedTransaction() (*types.Transaction, error) {
	a, err := tx.minedAttempt()
	if err != nil {
		return nil, err
	}
	t, err := a.transaction()
	return t, ledgerError(err)
}

func (tx *Tx) minedAttempt() (Attempt, error) {
	i := slices.IndexFunc(tx.Attempts, func(a Attempt) bool { return a.Hash == tx.Mined })
	if i < 0 {
		return Attempt{}, fmt.Errorf("%w: record %q was mined with bytes that are not its own", ErrLedger, tx.Key)
	}
	return tx.Attempts[i], nil
}

// checkSignatures checks that every attempt is signed by the account and does what the record
// says. Otherwise anyone who can write the file could have another call signed in its
// place, or any price outbid.
func (tx *Tx) checkSignatures() error {
	for i, a := range tx.Attempts {
		t, err := a.transaction()
		if err != nil {
			return fmt.Errorf("attempt %d: %w", i+1, err)
		}
		c := tx.Call
		if a.Kind == AttemptCancel {
			c = emptyCall(c)
		}
		by, err := types.Sender(types.LatestSignerForChainID(t.ChainId()), t)
		switch {
		case err != nil || by != tx.Call.From:
			return fmt.Errorf("attempt %d is not signed by %s", i+1, tx.Call.From)
		case t.To() == nil || *t.To() != c.To || t.Value().Cmp(c.Value) != 0 || !bytes.Equal(t.Data(), c.Data):
			return fmt.Errorf("attempt %d does something else than its record says", i+1)
		}
	}
	return nil
}

// maxGasCost returns the most that a's gas can cost, in wei.
func (a Attempt) maxGasCost() (*big.Int, error) {
	t, err := a.transaction()
	if err != nil {
		return nil, err
	}
	return new(big.Int).Mul(new(big.Int).SetUint64(t.Gas()), t.GasFeeCap()), nil
}

// transaction decodes a's bytes, which must match its hash and fees.
func (a Attempt) transaction() (*types.Transaction, error) {
	t := new(types.Transaction)
	if err := t.UnmarshalBinary(a.Raw); err != nil {
		return nil, err
	}
	if t.Hash() != a.Hash {
		return nil, errors.New("the bytes are not those of the hash")
	}
	if a.FeeCap == nil || a.TipCap == nil || t.GasFeeCap().Cmp(a.FeeCap.ToInt()) != 0 || t.GasTipCap().Cmp(a.TipCap.ToInt()) != 0 {
		return nil, errors.New("the bytes are not of the recorded fees")
	}
	return t, nil
}
