package bridgesim

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"swapkeep/sandbox/network"
)

// A chainEntry is one element of GET /chains.
type chainEntry struct {
	ID                      uint64           `json:"id"`
	Name                    string           `json:"name"`
	DisplayName             string           `json:"displayName"`
	HTTPRPC                 string           `json:"httpRpcUrl"`
	WSRPC                   string           `json:"wsRpcUrl"`
	ExplorerURL             string           `json:"explorerUrl"`
	ExplorerName            string           `json:"explorerName"`
	ExplorerPaths           any              `json:"explorerPaths"`
	DepositEnabled          bool             `json:"depositEnabled"`
	TokenSupport            string           `json:"tokenSupport"`
	Disabled                bool             `json:"disabled"`
	PartialDisableLimit     int              `json:"partialDisableLimit"`
	BlockProductionLagging  bool             `json:"blockProductionLagging"`
	Currency                chainCurrency    `json:"currency"`
	WithdrawalFee           int              `json:"withdrawalFee"`
	DepositFee              int              `json:"depositFee"`
	SurgeEnabled            bool             `json:"surgeEnabled"`
	FeaturedTokens          []featuredToken  `json:"featuredTokens"`
	ERC20Currencies         []erc20Currency  `json:"erc20Currencies"`
	SolverCurrencies        []solverCurrency `json:"solverCurrencies"`
	IconURL                 *string          `json:"iconUrl"`
	LogoURL                 *string          `json:"logoUrl"`
	BrandColor              *string          `json:"brandColor"`
	Contracts               map[string]any   `json:"contracts"`
	VMType                  string           `json:"vmType"`
	ExplorerQueryParameters any              `json:"explorerQueryParams"`
	BaseChainID             *uint64          `json:"baseChainId"`
	StatusMessage           *string          `json:"statusMessage"`
	SolverAddresses         []string         `json:"solverAddresses"`
	Tags                    []string         `json:"tags"`
	Protocol                struct {
		V2 protocolChain `json:"v2"`
	} `json:"protocol"`
}

// A solverCurrency is a currency that the solver accepts without a swap first.
type solverCurrency struct {
	ID       string `json:"id"`
	Symbol   string `json:"symbol"`
	Name     string `json:"name"`
	Address  string `json:"address"`
	Decimals uint8  `json:"decimals"`
}

type chainCurrency struct {
	solverCurrency
	SupportsBridging bool `json:"supportsBridging"`
}

type featuredToken struct {
	chainCurrency
	Metadata struct {
		LogoURI string `json:"logoURI"`
	} `json:"metadata"`
}

type erc20Currency struct {
	chainCurrency
	SupportsPermit bool `json:"supportsPermit"`
	WithdrawalFee  int  `json:"withdrawalFee"`
	DepositFee     int  `json:"depositFee"`
	SurgeEnabled   bool `json:"surgeEnabled"`
}

type protocolChain struct {
	ChainID    *string `json:"chainId"`
	Depository *string `json:"depository"`
}

type contractPair struct {
	Router common.Address `json:"erc20Router"`
	Proxy  common.Address `json:"approvalProxy"`
}

// chainList answers GET /chains: the known chains, those that are not running as
// disabled, and one non-EVM chain, as the real list has many.
func (s *Server) chainList(context.Context, []byte, *http.Request) (any, error) {
	settings := s.Settings()
	entries := []chainEntry{}
	for _, id := range s.ids() {
		entries = append(entries, s.markets[id].entry(settings, s.Solver.Address))
	}
	return map[string]any{"chains": append(entries, solana())}, nil
}

func (m *market) entry(settings Settings, solver common.Address) chainEntry {
	name := m.Bridge().Name
	e := chainEntry{
		ID: m.ID, Name: name, DisplayName: m.Name, HTTPRPC: "https://" + name + ".rpc.example", WSRPC: "wss://" + name + ".rpc.example",
		ExplorerURL: "https://" + name + ".example", ExplorerName: m.Name + " explorer",
		DepositEnabled: true, TokenSupport: "All", Disabled: !m.IsRunning() || slices.Contains(settings.Disabled, m.ID),
		Currency: chainOf(m.coin()), WithdrawalFee: 1, VMType: "evm", SolverAddresses: []string{lower(solver)}, Tags: []string{},
		FeaturedTokens: []featuredToken{}, ERC20Currencies: []erc20Currency{}, SolverCurrencies: []solverCurrency{solverOf(m.coin()), solverOf(m.Tokens[0])},
		Contracts: map[string]any{
			"multicall3":           common.HexToAddress("0xca11bde05977b3631167028862be2a173976ca11"),
			"multicaller":          common.HexToAddress("0x0000000000002bdbf1bf3279983603ec279cc6df"),
			"relayReceiver":        common.HexToAddress("0xa5f565650890fba1824ee0f21ebbbf660a179934"),
			"onlyOwnerMulticaller": common.HexToAddress("0xb90ed4c123843cbfd66b11411ee7694ef37e6e72"),
		},
	}
	for _, t := range m.Tokens {
		featured := featuredToken{chainCurrency: chainOf(t)}
		featured.Metadata.LogoURI = logo(t)
		e.FeaturedTokens = append(e.FeaturedTokens, featured)
		e.ERC20Currencies = append(e.ERC20Currencies, erc20Currency{chainCurrency: chainOf(t), WithdrawalFee: 1})
	}
	for _, p := range m.Bridge().Pairs {
		if p.Version == "v2" {
			e.Contracts["erc20Router"], e.Contracts["approvalProxy"] = p.Router, p.Proxy
		} else {
			e.Contracts[p.Version] = contractPair{p.Router, p.Proxy}
		}
	}
	icon, depository, base := fmt.Sprintf("https://assets.relay.link/icons/%d/light.png", m.ID), lower(settings.depository(m)), uint64(1)
	e.IconURL = &icon
	e.Protocol.V2 = protocolChain{&name, &depository}
	if m.ID != base {
		e.BaseChainID = &base
	}
	return e
}

// solana is listed so that callers have a chain to skip.
func solana() chainEntry {
	sol := solverCurrency{"sol", "SOL", "Solana", "11111111111111111111111111111111", 9}
	return chainEntry{
		ID: 792703809, Name: "solana", DisplayName: "Solana", DepositEnabled: true, TokenSupport: "All",
		Currency: chainCurrency{sol, true}, FeaturedTokens: []featuredToken{}, ERC20Currencies: []erc20Currency{},
		SolverCurrencies: []solverCurrency{sol}, Contracts: map[string]any{}, VMType: "svm",
		SolverAddresses: []string{}, Tags: []string{},
	}
}

func solverOf(t network.Token) solverCurrency {
	return solverCurrency{strings.ToLower(t.Symbol), t.Symbol, t.Name, lower(t.Address), t.Decimals}
}

func chainOf(t network.Token) chainCurrency { return chainCurrency{solverOf(t), true} }

func logo(t network.Token) string {
	return "https://assets.relay.link/icons/currencies/" + strings.ToLower(t.Symbol) + ".png"
}

// lower formats an address as most of the API's responses do.
func lower(a common.Address) string { return strings.ToLower(a.Hex()) }

// coin describes the chain's native coin.
func (m *market) coin() network.Token {
	name := m.Native
	if name == "ETH" {
		name = "Ether"
	}
	return network.Token{Symbol: m.Native, Name: name, Decimals: 18, MicroUSD: m.Wrapped.MicroUSD}
}

// token looks up a currency of the chain.
func (m *market) token(a common.Address) (network.Token, bool) {
	all := m.currencies()
	i := slices.IndexFunc(all, func(t network.Token) bool { return t.Address == a })
	if i < 0 {
		return network.Token{}, false
	}
	return all[i], true
}

// currencies returns all currencies that the chain trades, the native coin first.
func (m *market) currencies() []network.Token {
	return append([]network.Token{m.coin(), m.Wrapped}, m.Tokens...)
}

// direct reports whether the solver accepts the currency without a swap.
func (m *market) direct(a common.Address) bool { return a == native || a == m.Tokens[0].Address }
