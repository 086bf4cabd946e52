package main

import (
	"strings"

	"swapkeep/tokens"

	"github.com/ethereum/go-ethereum/common"
)

// Kinds of tokens, in the order in which they are listed.
const (
	stable = iota
	wrapped
	staked
	other
)

// kinds holds the symbols of each kind, as the lists write them; those of stable coins are in
// package tokens.
var kinds = kindsOf([]string{
	wrapped: `WETH WBTC WBNB WMON cbBTC BTCB BTC.b tBTC FBTC SOL WSOL uSOL WAVAX WMATIC WPOL WXRP cbXRP cbDOGE cbADA cbLTC FXRP
		XRP ADA DOGE LTC DOT BCH ETC FIL EOS XLM TRX AVAX MATIC POL ATOM ZEC uXRP uDOGE uADA uSUI PAXG XAUt XAUt0 kBTC uBTC`,
	staked: `stETH wstETH rETH cbETH weETH eETH ezETH rsETH wrsETH osETH ETHx frxETH sfrxETH mETH cmETH swETH rswETH pufETH ankrETH
		OETH wOETH superOETHb wsuperOETHb wsuperOETH msETH alETH LsETH wBETH WBETH ETH+ dETH sETH2 wsETH wstLINK sAVAX
		stMATIC MaticX BNBx slisBNB ankrBNB stkBNB asBNB clisBNB LBTC SolvBTC xSolvBTC SolvBTC.BBN uniBTC pumpBTC eBTC enzoBTC stBTC
		sUSDe sUSDS sDAI sfrxUSD sFRAX syrupUSDC syrupUSDT savUSD sAUSD scrvUSD sGHO wsrUSD wUSDM USD0++ sDOLA
		aprMON gMON shMON sMON mcMON earnMON LVMON earnAUSD hgETH tETH bsdETH inETH unshETH`,
})

func kindsOf(rows []string) map[string]int {
	kinds := map[string]int{}
	for kind, symbols := range rows {
		for symbol := range strings.FieldsSeq(symbols) {
			kinds[symbol] = kind
		}
	}
	return kinds
}

func kindOf(t token) int {
	if tokens.Par(t.Symbol) > 0 {
		return stable
	}
	if kind, ok := kinds[t.Symbol]; ok {
		return kind
	}
	return other
}

// over holds tokens that are worth nothing any more, or whose issuer has ended them, with
// the reason.
var over = map[string]string{
	"UST": "Terra's dollar, which collapsed in 2022", "USTC": "Terra's dollar, which collapsed in 2022", "LUNC": "Terra's coin, which collapsed in 2022",
	"LUNA": "Terra's coin, which collapsed in 2022", "ANC": "Terra's lender, which collapsed in 2022", "MIR": "Terra's synthetics, which collapsed in 2022",
	"FTT": "of an exchange that failed in 2022", "CEL": "of a lender that failed in 2022", "SRM": "given up in 2022",
	"FEI": "redeemed since 2022", "TRIBE": "wound up in 2022", "HUSD": "lost its peg in 2022", "USDN": "lost its peg in 2022",
	"REN": "its bridge closed in 2022", "MULTI": "its bridge failed in 2023", "ANY": "its bridge failed in 2023",
	"SAI": "replaced by DAI in 2019", "BTTOLD": "replaced by BTT", "EPS": "replaced by EPX", "REPv1": "replaced by REP", "USDC.multi": "its bridge failed in 2023",
}

// spoiled holds rows of the lists that are wrong, or whose token has been replaced by another
// of the same symbol, with the reason.
var spoiled = map[id]string{
	{10, common.HexToAddress("0x3c8B650257cFb5f272f799F5e2b4e65093a11a05")}: "VELO is at another address since 2023",
	{56, common.HexToAddress("0x85EAC5Ac2F758618dFa09bDbe0cf174e7d574D5B")}: "replaced by TRX of six decimals",
	{56, common.HexToAddress("0x039cB485212f996A9DBb85A9a75d898F94d38dA6")}: "replaced by DEXE at another address",
	{56, common.HexToAddress("0x524bC91Dc82d6b90EF29F76A3ECAaBAffFD490Bc")}: "a list calls Wormhole's USDT kBTC",
}
