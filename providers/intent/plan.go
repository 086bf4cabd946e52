package intent

import (
	"bytes"
	"encoding/json"
	"math/big"
	"strings"

	"swapkeep/chain"
	"swapkeep/providers/wire"
	"swapkeep/swap"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
)

const (
	maxActions = 6
	maxData    = 32 << 10 // bytes of a transaction's data
	actionType = "eip1193_request"

	switchChain     = "wallet_switchEthereumChain"
	sendTransaction = "eth_sendTransaction"
)

// planReply is the reply to POST /v1/deposit/build. Its actions may have no unknown fields.
type planReply struct {
	Kind      string            `json:"kind"`
	Name      string            `json:"name"` // of an error that came with a success status
	Approvals []json.RawMessage `json:"approvals"`
}

// An action is one EIP-1193 request. Its WaitForReceipt is ignored: package swap decides
// when to wait.
type action struct {
	Type    string `json:"type"`
	Request struct {
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	} `json:"request"`
	WaitForReceipt bool `json:"waitForReceipt"`
	Deposit        bool `json:"deposit"`
}

// A transaction is the parameter of eth_sendTransaction. Gas, fees and nonce may be present
// but are ignored: the wallet sets its own.
type transaction struct {
	From     *wire.Address   `json:"from"`
	To       string          `json:"to"`
	Data     string          `json:"data"`
	Value    *quantity       `json:"value"`
	ChainID  *quantity       `json:"chainId"`
	Gas      json.RawMessage `json:"gas"`
	GasPrice json.RawMessage `json:"gasPrice"`
	FeeCap   json.RawMessage `json:"maxFeePerGas"`
	Tip      json.RawMessage `json:"maxPriorityFeePerGas"`
	Nonce    json.RawMessage `json:"nonce"`
}

// A quantity is a hex string with 0x, a decimal string or a JSON integer.
type quantity struct {
	*big.Int
	hex bool
}

// UnmarshalJSON refuses every other form.
func (q *quantity) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil && strings.HasPrefix(s, "0x") {
		digits := s[2:]
		if len(digits) > 64 || strings.Trim(digits, "0123456789abcdefABCDEF") != "" {
			return errNotQuantity
		}
		n, ok := new(big.Int).SetString(digits, 16)
		if !ok {
			return errNotQuantity
		}
		q.Int, q.hex = n, true
		return nil
	}
	var n wire.Number
	if err := n.UnmarshalJSON(b); err != nil {
		return errNotQuantity
	}
	q.Int = n.Int
	return nil
}

// readPlan validates every action of a plan before anything is signed (spec section 5,
// intent action validation) and fails closed. An unknown type of action is reported as such
// before its fields are checked. It is pure.
func readPlan(raw []byte, t swap.Terms, depots []depositContract) (deposit, error) {
	var r planReply
	if err := service.Read("plan", raw, &r); err != nil {
		return deposit{}, notUnderstood("plan", err)
	}
	switch {
	case r.Kind == "" && r.Name != "":
		return deposit{}, failure(r.Name)
	case r.Kind != contractCall:
		return deposit{}, refuse(swap.Undecodable, "kind", "wants the deposit by %q, and only contract calls are made; choose another route", wire.Printable(r.Kind))
	case len(r.Approvals) == 0 || len(r.Approvals) > maxActions:
		return deposit{}, refuse(swap.Undecodable, "approvals", "built a plan of %d actions, not of 1 to %d", len(r.Approvals), maxActions)
	}
	p := plan{depositContracts: depots}
	for i, raw := range r.Approvals {
		if err := p.addAction(raw, t, i == len(r.Approvals)-1); err != nil {
			return deposit{}, err
		}
	}
	return p.deposit, p.checkApprovals(t)
}

// A plan collects what the actions do.
type plan struct {
	depositContracts []depositContract // built-in deposit contracts
	approvals        []allowance
	deposit          deposit
}

type allowance struct {
	spender common.Address
	amount  *big.Int
}

// addAction validates one action. Only the last may be, and must be, the deposit. Every other
// type and method is refused (rule 5).
func (p *plan) addAction(raw []byte, t swap.Terms, last bool) error {
	var of struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(raw, &of); err != nil {
		return notUnderstood("action", err)
	}
	if of.Type != actionType {
		return refuse(swap.Undecodable, "type", "built an action of type %q, which is not carried out", wire.Printable(of.Type))
	}
	var a action
	if err := wire.ReadStrict(raw, &a); err != nil {
		return notUnderstood("action", err)
	}
	switch {
	case a.Request.Method != switchChain && a.Request.Method != sendTransaction:
		return refuse(swap.Undecodable, "method", "built an action %q, which is not carried out", wire.Printable(a.Request.Method))
	case a.Deposit != last || last && a.Request.Method != sendTransaction:
		return refuse(swap.Undecodable, "deposit", "built a plan in which the deposit is not the last action alone")
	case len(a.Request.Params) != 1:
		return refuse(swap.Undecodable, "params", "built an action with %d parameters, not one", len(a.Request.Params))
	case a.Request.Method == switchChain:
		return checkSwitch(a.Request.Params[0], t)
	}
	return p.addTransaction(a.Request.Params[0], t, last)
}

// checkSwitch requires a switch to the source chain and nothing else (rule 1). It makes no
// step: the wallet uses that network anyway.
func checkSwitch(raw []byte, t swap.Terms) error {
	var s struct {
		ChainID *quantity `json:"chainId"`
	}
	if err := wire.ReadStrict(raw, &s); err != nil {
		return notUnderstood("chainId", err)
	}
	if s.ChainID == nil || !s.ChainID.hex || !s.ChainID.isChain(t.SrcChain) { // EIP-3326 requires hex
		return refuse(swap.NotAsAccepted, "chainId", "would switch to another network than %d", t.SrcChain)
	}
	return nil
}

// addTransaction validates a transaction (rules 2 to 4) and records it as an approval or as the
// deposit.
func (p *plan) addTransaction(raw []byte, t swap.Terms, deposits bool) error {
	var tx transaction
	if err := wire.ReadStrict(raw, &tx); err != nil {
		return notUnderstood("transaction", err)
	}
	to, err := parseTarget(tx.To)
	if err != nil {
		return err
	}
	data, err := hexutil.Decode(orNone(tx.Data))
	switch {
	case err != nil:
		return notUnderstood("data", err)
	case len(data) > maxData:
		return refuse(swap.Undecodable, "data", "built a transaction with %d bytes of data", len(data))
	case !tx.From.Is(t.From()):
		return refuse(swap.NotAsAccepted, "from", "built a transaction that is not from the account")
	case tx.ChainID != nil && !tx.ChainID.isChain(t.SrcChain): // absent means the source chain: live plans leave it out
		return refuse(swap.NotAsAccepted, "chainId", "built a transaction for another network than %d", t.SrcChain)
	}
	value := new(big.Int)
	if tx.Value != nil {
		value = tx.Value.Int
	}
	if deposits {
		p.deposit = deposit{to, value, data}
		return p.deposit.check(t, p.depositContracts)
	}
	return p.addApproval(to, value, data, t)
}

// addApproval accepts an approval of the input token. Any other transaction before the deposit
// is refused.
func (p *plan) addApproval(to common.Address, value *big.Int, data []byte, t swap.Terms) error {
	switch {
	case t.TokenIn == chain.Native:
		return refuse(swap.NotAsAccepted, "approvals", "built a transaction before a deposit of the native coin, which needs none")
	case to != t.TokenIn:
		return refuse(swap.NotAsAccepted, "to", "built a transaction to %s before the deposit, which is not the input token", to)
	case value.Sign() != 0:
		return refuse(swap.NotAsAccepted, "value", "built an approval that sends the coin").WithAmounts(swap.OfCoin, value, nil)
	case !isApproval(data):
		return refuse(swap.Undecodable, "data", "built a transaction before the deposit that is no approval")
	}
	p.approvals = append(p.approvals, allowance{common.BytesToAddress(data[4:36]), new(big.Int).SetBytes(data[36:68])})
	return nil
}

// isApproval reports whether data is exactly a call of approve(address,uint256).
func isApproval(data []byte) bool {
	return len(data) == 68 && bytes.HasPrefix(data, approveSelector[:]) && len(bytes.Trim(data[4:16], "\x00")) == 0
}

// checkApprovals requires the approvals to be for the deposit's contract alone: the exact
// input, once, after at most one reset to zero.
func (p *plan) checkApprovals(t swap.Terms) error {
	grants := 0
	for i, a := range p.approvals {
		switch {
		case a.spender != p.deposit.to:
			return refuse(swap.NotAsAccepted, "spender", "would have %s approved, which is not the contract that takes the deposit", a.spender)
		case a.amount.Sign() == 0 && i == 0:
		case a.amount.Cmp(t.AmountIn) == 0:
			grants++
		default:
			return refuse(swap.NotAsAccepted, "allowance", "would not have exactly the amount approved").WithAmounts(swap.OfInput, a.amount, t.AmountIn)
		}
	}
	if len(p.approvals) > 0 && grants != 1 {
		return refuse(swap.Undecodable, "approvals", "would have the deposit approved %d times, not once", grants)
	}
	return nil
}

// parseTarget parses the target: 20 bytes, not zero, and with a correct checksum if its
// letters are of mixed case (rule 4).
func parseTarget(s string) (common.Address, error) {
	a, err := wire.ParseAddress(s)
	mixed := strings.ToLower(s) != s && strings.ToUpper(s[min(2, len(s)):]) != s[min(2, len(s)):]
	if err != nil || a == (common.Address{}) || mixed && a.Hex() != s {
		return a, refuse(swap.Undecodable, "to", "built a transaction to %q, which is no valid address", wire.Printable(s))
	}
	return a, nil
}

func (q *quantity) isChain(id uint64) bool {
	return q.Int != nil && q.Cmp(new(big.Int).SetUint64(id)) == 0
}

func orNone(data string) string {
	if data == "" {
		return "0x"
	}
	return data
}
