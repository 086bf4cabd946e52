package tokens

import "strings"

// currencies are those that stable coins stand for: the most that one unit is worth, in
// millionths of a US dollar, which is the dollar's own worth and for the others generous; and
// the coins' symbols as the published lists write them.
var currencies = []struct {
	most  uint64
	coins string
}{
	{1_000_000, `USDT USDC DAI USDT0 USD₮0 USDS USDe USD1 PYUSD RLUSD GHO FDUSD crvUSD FRAX frxUSD USDC.e USDT.e DAI.e USDbC axlUSDC USDG
		USD0 TUSD USDP GUSD LUSD BOLD BUSD USDD USDY USDM USDX USDz USR AUSD RUSD rUSD USDa USDf USDtb USDB MUSD mUSD sUSD MAI MIM
		DOLA alUSD lvlUSD cUSD USDm USD* FXUSD fxUSD vUSD wM M USDA HONEY oUSDT`},
	{1_500_000, `EURC EURS EURe agEUR EURA EURCV EURI EURT EUROe EURm EURW VEUR`},
	{1_800_000, `GBPm GBPe`},
	{1_700_000, `CHFm VCHF ZCHF`},
	{1_000_000, `XSGD TNSGD CADC QCAD NZDS`},
	{400_000, `BRZ BRLA`},
	{100_000, `MXNB TRYB`},
	{12_000, `JPYm JPYC GYEN`},
	{120, `IDRX XIDR`},
}

var pars = func() map[string]uint64 {
	all := map[string]uint64{}
	for _, c := range currencies {
		for symbol := range strings.FieldsSeq(c.coins) {
			all[symbol] = c.most
		}
	}
	return all
}()

// Par returns what the currency of a stable coin with that symbol is at most worth, in
// millionths of a US dollar; 0 = no stable coin's symbol. A symbol says this only of a token of
// the built-in list.
func Par(symbol string) uint64 { return pars[symbol] }
