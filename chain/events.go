package chain

import (
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
)

// nativeLogs are the addresses under which transfers of the native coin appear as
// Transfer logs in a simulation: ERC-7528's, and EIP-7708's on chains that log them
// anyway. No contract can exist at either.
var nativeLogs = map[common.Address]bool{
	common.HexToAddress("0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"): true,
	common.HexToAddress("0xfffffffffffffffffffffffffffffffffffffffe"): true,
}

// effects collects what the logs of a simulation show.
type effects struct {
	wrapped   common.Address // the network's wrapped coin; zero = none
	movements []Movement
	grants    []Grant
	unclear   bool // a known event had an unknown layout
}

// An event is identified by its topic; its layout by the number of topics and bytes of
// data.
type event struct {
	topic        common.Hash
	topics, data int // data < 0 = checked by read
	read         func(e *effects, l eventLog) bool
}

// An eventLog is a log reduced to what determines its meaning.
type eventLog struct {
	Address common.Address `json:"address"`
	Topics  []common.Hash  `json:"topics"`
	Data    []byte         `json:"-"`
}

func (l eventLog) topicAddress(i int) common.Address { return common.BytesToAddress(l.Topics[i][:]) }
func (l eventLog) topicNumber(i int) *big.Int        { return l.Topics[i].Big() }
func (l eventLog) word(i int) *big.Int               { return new(big.Int).SetBytes(l.Data[32*i : 32*i+32]) }
func (l eventLog) wordAddress(i int) common.Address {
	return common.BytesToAddress(l.Data[32*i : 32*i+32])
}

func topic(signature string) common.Hash { return crypto.Keccak256Hash([]byte(signature)) }

// TransferTopic is the topic of Transfer(address,address,uint256), which ERC-20 tokens and NFTs
// share; an NFT's has the number as a topic too.
var TransferTopic = topic("Transfer(address,address,uint256)")

var approvalTopic = topic("Approval(address,address,uint256)")

// events are the logs that move value or grant allowances: of ERC-20, ERC-721, ERC-1155,
// the wrapped coin (WETH9 emits no Transfer when it mints and burns), and Permit2, whose
// forks use the same events.
var events = []event{
	{TransferTopic, 3, 32, func(e *effects, l eventLog) bool {
		token := l.Address
		if nativeLogs[token] {
			token = Native
		}
		return e.move(token, l.topicAddress(1), l.topicAddress(2), l.word(0), nil)
	}},
	{TransferTopic, 4, 0, func(e *effects, l eventLog) bool {
		return e.move(l.Address, l.topicAddress(1), l.topicAddress(2), big.NewInt(1), l.topicNumber(3))
	}},
	{TransferTopic, 1, 96, func(e *effects, l eventLog) bool { // tokens older than "indexed"
		return e.move(l.Address, l.wordAddress(0), l.wordAddress(1), l.word(2), nil)
	}},
	{topic("TransferSingle(address,address,address,uint256,uint256)"), 4, 64, func(e *effects, l eventLog) bool {
		return e.move(l.Address, l.topicAddress(2), l.topicAddress(3), l.word(1), l.word(0))
	}},
	{topic("TransferBatch(address,address,address,uint256[],uint256[])"), 4, -1, readBatch},
	{topic("Deposit(address,uint256)"), 2, 32, func(e *effects, l eventLog) bool {
		return l.Address != e.wrapped || e.moveOnce(l.Address, common.Address{}, l.topicAddress(1), l.word(0))
	}},
	{topic("Withdrawal(address,uint256)"), 2, 32, func(e *effects, l eventLog) bool {
		return l.Address != e.wrapped || e.moveOnce(l.Address, l.topicAddress(1), common.Address{}, l.word(0))
	}},
	{approvalTopic, 3, 32, func(e *effects, l eventLog) bool {
		return e.grant(Grant{Token: l.Address, Owner: l.topicAddress(1), Spender: l.topicAddress(2), Amount: l.word(0)})
	}},
	{approvalTopic, 4, 0, func(e *effects, l eventLog) bool {
		if l.topicAddress(2) == (common.Address{}) { // cleared, as by every transfer of an NFT
			return true
		}
		return e.grant(Grant{Token: l.Address, Owner: l.topicAddress(1), Spender: l.topicAddress(2)})
	}},
	{approvalTopic, 1, 96, func(e *effects, l eventLog) bool {
		return e.grant(Grant{Token: l.Address, Owner: l.wordAddress(0), Spender: l.wordAddress(1), Amount: l.word(2)})
	}},
	{topic("ApprovalForAll(address,address,bool)"), 3, 32, func(e *effects, l eventLog) bool {
		if l.word(0).Sign() == 0 {
			return true
		}
		return e.grant(Grant{Token: l.Address, Owner: l.topicAddress(1), Spender: l.topicAddress(2)})
	}},
	{topic("Approval(address,address,address,uint160,uint48)"), 4, 64, readPermit2},
	{topic("Permit(address,address,address,uint160,uint48,uint48)"), 4, 96, readPermit2},
}

func readPermit2(e *effects, l eventLog) bool {
	return e.grant(Grant{Owner: l.topicAddress(1), Token: l.topicAddress(2), Spender: l.topicAddress(3), Amount: l.word(0), Via: l.Address})
}

// maxBatch bounds the entries of one TransferBatch.
const maxBatch = 1000

// readBatch decodes ids and values in the one layout that compilers produce: both
// offsets, then both arrays.
func readBatch(e *effects, l eventLog) bool {
	if len(l.Data)%32 != 0 || len(l.Data) < 4*32 || !l.word(2).IsUint64() {
		return false
	}
	n := l.word(2).Uint64()
	if n > maxBatch || uint64(len(l.Data)) != (4+2*n)*32 {
		return false
	}
	k := int(n)
	if l.word(0).Cmp(big.NewInt(64)) != 0 || l.word(1).Cmp(big.NewInt(int64(96+32*k))) != 0 || l.word(3+k).Cmp(l.word(2)) != 0 {
		return false
	}
	for i := range k {
		e.move(l.Address, l.topicAddress(2), l.topicAddress(3), l.word(4+k+i), l.word(3+i))
	}
	return true
}

func (e *effects) move(token, from, to common.Address, amount, id *big.Int) bool {
	e.movements = append(e.movements, Movement{Token: token, From: from, To: to, Amount: amount, ID: id})
	return true
}

// moveOnce is move, unless it repeats the last movement: some wrapped coins emit a
// Transfer as well.
func (e *effects) moveOnce(token, from, to common.Address, amount *big.Int) bool {
	if n := len(e.movements); n > 0 {
		last := e.movements[n-1]
		if last.Token == token && last.From == from && last.To == to && last.Amount.Cmp(amount) == 0 {
			return true
		}
	}
	return e.move(token, from, to, amount, nil)
}

func (e *effects) grant(g Grant) bool {
	e.grants = append(e.grants, g)
	return true
}

// add reads one log. A known topic with an unknown layout makes the result unclear; logs
// of other topics are ignored.
func (e *effects) add(l eventLog) {
	if len(l.Topics) == 0 {
		return
	}
	known := false
	for _, ev := range events {
		if ev.topic != l.Topics[0] {
			continue
		}
		known = true
		if ev.topics == len(l.Topics) && (ev.data < 0 || ev.data == len(l.Data)) && ev.read(e, l) {
			return
		}
	}
	if known {
		e.unclear = true
	}
}

// Transfers returns the ERC-20 transfers among logs, in their order.
func Transfers(logs []*types.Log) []Movement {
	var found []Movement
	for _, l := range logs {
		if l == nil || len(l.Topics) != 3 || l.Topics[0] != TransferTopic || len(l.Data) != 32 {
			continue
		}
		found = append(found, Movement{
			Token: l.Address, From: common.BytesToAddress(l.Topics[1][:]), To: common.BytesToAddress(l.Topics[2][:]),
			Amount: new(big.Int).SetBytes(l.Data),
		})
	}
	return found
}
