package chain

// A Knowledge says whether somebody published that a host does something.
type Knowledge string

// The kinds of knowledge. A documented method may still be refused at times.
const (
	Documented Knowledge = "documented"
	Unknown    Knowledge = "unknown"
)

// A Host is a default endpoint of a network, with what is published of it. What holds today
// is what [MultiClient.Probe] finds.
type Host struct {
	Chain    uint64
	URL      string
	Operator string // who runs it; two of one operator are one source
	// What it serves: eth_getLogs over at least 64 blocks, the block tag "finalized",
	// eth_simulateV1, eth_getBlockReceipts.
	Logs, Finalized, Simulate, BlockReceipts Knowledge
	Source                                   string
}

// hostsChecked is the day on which the sources of the hosts were last looked up.
const hostsChecked = "2026-11-28"

// Sources that several hosts share.
const (
	refusals   = "refusals of too wide a range, recorded 2026-09-08 (testdata/live/FACTS.md j)"
	publicNode = "ethereum-lists/chains; logs: ranges measured by several users, 10,000 blocks and more (FACTS.md j)"
	dRPC       = "ethereum-lists/chains; logs: its refusal names 10,000 blocks (FACTS.md j)"
	thirdweb   = "viem's chain definitions"
	monadDocs  = "docs.monad.xyz, network information and JSON-RPC overview"
)

// hosts are the default endpoints by network, in the order in which they are asked. The
// first two serve logs as far as anything is published, and are of distinct operators: two
// must agree on evidence.
var hosts = []Host{
	{1, "https://ethereum-rpc.publicnode.com", "Allnodes", Documented, Documented, Unknown, Unknown, publicNode},
	{1, "https://eth.drpc.org", "dRPC", Documented, Documented, Unknown, Unknown, dRPC},
	{1, "https://ethereum.reth.rs/rpc", "Paradigm", Unknown, Documented, Unknown, Unknown, thirdweb},

	{10, "https://mainnet.optimism.io", "Optimism", Documented, Documented, Unknown, Unknown, "docs.optimism.io, networks; logs: " + refusals},
	{10, "https://optimism-rpc.publicnode.com", "Allnodes", Documented, Documented, Unknown, Unknown, publicNode},

	{56, "https://bsc-rpc.publicnode.com", "Allnodes", Documented, Documented, Unknown, Unknown, publicNode},
	{56, "https://bsc.drpc.org", "dRPC", Documented, Documented, Unknown, Unknown, dRPC},
	{56, "https://56.rpc.thirdweb.com", "thirdweb", Unknown, Documented, Unknown, Unknown, thirdweb},

	{8453, "https://mainnet.base.org", "Coinbase", Documented, Documented, Unknown, Unknown, "docs.base.org, network information; logs: " + refusals},
	{8453, "https://base-rpc.publicnode.com", "Allnodes", Documented, Documented, Unknown, Unknown, publicNode},
	{8453, "https://base.drpc.org", "dRPC", Documented, Documented, Unknown, Unknown, dRPC},

	{42161, "https://arb1.arbitrum.io/rpc", "Offchain Labs", Documented, Documented, Unknown, Unknown, "docs.arbitrum.io, RPC endpoints; logs: " + refusals},
	{42161, "https://arbitrum-one-rpc.publicnode.com", "Allnodes", Documented, Documented, Unknown, Unknown, publicNode},

	{143, "https://rpc.monad.xyz", "QuickNode", Documented, Documented, Documented, Documented, monadDocs + "; eth_simulateV1: QuickNode's page of 2026-08-28"},
	{143, "https://rpc1.monad.xyz", "Alchemy", Documented, Documented, Unknown, Documented, monadDocs},
	{143, "https://monad-mainnet.drpc.org", "dRPC", Documented, Documented, Unknown, Documented, dRPC},

	{43114, "https://api.avax.network/ext/bc/C/rpc", "Ava Labs", Documented, Documented, Unknown, Unknown, "build.avax.network, RPC endpoints; logs: " + refusals},
	{43114, "https://avalanche-c-chain-rpc.publicnode.com", "Allnodes", Documented, Documented, Unknown, Unknown, publicNode},

	{5330, "https://mainnet.superseed.xyz", "Conduit", Unknown, Unknown, Unknown, Unknown, "ethereum-lists/chains; the network has ended"},
	{5330, "https://superseed.drpc.org", "dRPC", Unknown, Unknown, Unknown, Unknown, "ethereum-lists/chains; the network has ended"},

	{39, "https://rpc-mainnet.u2u.xyz", "Unicorn Ultra", Unknown, Unknown, Unknown, Unknown, "docs.u2u.xyz"},
	{39, "https://39.rpc.thirdweb.com", "thirdweb", Unknown, Unknown, Unknown, Unknown, "thirdweb's list of chains"},
}

// Hosts returns the built-in endpoints of all networks.
func Hosts() []Host { return append([]Host(nil), hosts...) }

// defaultURLs returns the URLs of a network's default endpoints.
func defaultURLs(id uint64) (urls []string) {
	for _, h := range hosts {
		if h.Chain == id {
			urls = append(urls, h.URL)
		}
	}
	return urls
}
