package chain

import "slices"

// A recomputeRow says whether the hash and the roots of a network's blocks can be recomputed, and
// by what that is known. The facts are in testdata/live/FACTS.md, section (i).
type recomputeRow struct {
	id  uint64
	can bool
	why string
}

// recomputeRows are the networks of which that is known. For any other it cannot be done.
var recomputeRows = []recomputeRow{
	{1, true, "go-ethereum's own encodings; a third party rebuilt block 26022093"},
	{10, true, "OP stack: go-ethereum's encodings and the deposit's (op-geth)"},
	{56, true, "go-ethereum's encodings, by the source of bsc: system calls are legacy transactions"},
	{130, true, "OP stack"},
	{143, true, "go-ethereum's encodings, by the source of monad, while headers have no slot number"},
	{5330, true, "OP stack"},
	{8453, true, "OP stack; recorded headers give their hashes, and a third party rebuilt six receipts' roots"},
	{42161, true, "Nitro's types have go-ethereum's receipts, by its source; a recorded block gives its hash and the transactions' root"},
	{57073, true, "OP stack"},

	{39, false, "not established what the hash of an Opera block commits to"},
	{137, false, "the type of the state-sync transactions is not known here"},
	{324, false, "the hash is no Ethereum header's, and the node shows no roots"},
	{5000, false, "a deposit's encoding of its own"},
	{43114, false, "the header has members of its own"},
}

// recomputable reports whether [MultiClient.CheckReceipt] can be done on a network.
func recomputable(id uint64) bool {
	return slices.ContainsFunc(recomputeRows, func(r recomputeRow) bool { return r.id == id && r.can })
}
