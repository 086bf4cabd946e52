package protocol

// ProvidersResult lists the providers and their capabilities.
type ProvidersResult struct {
	Providers []Provider `json:"providers"`
}

// A Provider is one swap provider, identified by its kind.
type Provider struct {
	Kind    string             `json:"kind" of:"ProviderKind" doc:"dex, bridge, intent or gasless"`
	Ready   bool               `json:"ready" doc:"built in and configured"`
	Reason  string             `json:"reason,omitempty" doc:"why it is not ready"`
	Support map[string]Support `json:"support" doc:"by chain id"`
	Can     Capabilities       `json:"capabilities"`
	Fee     ProviderFee        `json:"fee"`

	Host        string                     `json:"host,omitempty" doc:"where the daemon asks it; of the intent provider"`
	FrontendURL string                     `json:"frontendBaseUrl,omitempty" doc:"where windows may ask it; of the intent provider"`
	Networks    map[string]ProviderNetwork `json:"networks,omitempty" doc:"by chain id; of the intent provider"`
}

// A ProviderNetwork is the intent provider's configuration of one network.
type ProviderNetwork struct {
	Enabled            bool   `json:"enabled"`
	HyperstreamChainID uint64 `json:"hyperstreamChainId" doc:"the provider's id of the network"`
	DisplayName        string `json:"displayName"`
	CrossChainEnabled  bool   `json:"crossChainEnabled"`
}

// Capabilities are the features of a provider: yes, no, or under what condition.
type Capabilities struct {
	SameChain  string `json:"sameChain"`
	CrossChain string `json:"crossChain"`
	Intents    string `json:"intentRouting"`
	Gasless    string `json:"gaslessExecution"`
	Tracking   string `json:"orderTracking"`
}

// A ProviderFee is the fees of a swap through a provider.
type ProviderFee struct {
	FeeBps      int    `json:"feeBps" doc:"the wallet's, basis points; 0: no receiver is configured"`
	MakerBps    int    `json:"makerFeeBps" doc:"maximum additional fee of the provider's side, basis points"`
	Description string `json:"description" doc:"for people"`
}

// Support is a provider's support of one chain.
type Support struct {
	Support    string   `json:"support" of:"SupportLevel" doc:"active, disabled or not supported"`
	CrossChain bool     `json:"crossChainEnabled"`
	Note       string   `json:"note,omitempty"`
	Pools      []string `json:"pools,omitempty" doc:"pool versions of the classic route"`
	Auction    bool     `json:"auction,omitempty" doc:"the auction route is served"`
}

type DestinationsParams struct {
	Provider string `json:"provider" of:"ProviderKind" doc:"bridge or intent: those that leave the source chain"`
}

// DestinationsResult lists the chains a provider pays out on.
type DestinationsResult struct {
	Destinations []Destination `json:"destinations"`
}

// A Destination is a chain that can receive. For a chain that is not known here, all
// fields are the provider's claims, sanitized for display like token names.
type Destination struct {
	ChainID  uint64 `json:"chainId"`
	Name     string `json:"name"`
	Symbol   string `json:"symbol,omitempty" doc:"of the native coin; absent: unknown"`
	Decimals int    `json:"decimals,omitempty" doc:"of the native coin; absent: unknown"`
	Explorer string `json:"explorer,omitempty" doc:"URL of a block explorer, https"`
	Known    bool   `json:"known" doc:"one of networks.list; for others the wallet reads no balance, and a payment only by built-in read-only RPC hosts, where it has any"`
}

type FeesResult struct {
	FeeBps      int     `json:"feeBps" doc:"basis points"`
	PartnerInfo Partner `json:"partnerInfo"`
}

// A Partner receives the wallet's fee.
type Partner struct {
	Name            string  `json:"name"`
	ReceiverAddress Address `json:"receiverAddress,omitempty" doc:"absent: no fee is asked"`
	Website         string  `json:"website"`
}
