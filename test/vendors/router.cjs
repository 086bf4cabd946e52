// Calldata of the Universal Router. {make: true} has universal-router-sdk make a form of
// each kind, for Go to read; {parse: [{data, account}]} reads calldata that our simulator made;
// {permits: [{values, chain}]} hashes Permit2's permits by permit2-sdk.
const { utils } = require('ethers')
const JSBI = require('jsbi')
const ur = require('@uniswap/universal-router-sdk')
const { AllowanceTransfer, PERMIT2_ADDRESS } = require('@uniswap/permit2-sdk')
const { Trade, MixedRouteSDK } = require('@uniswap/router-sdk')
const { CurrencyAmount, Ether, Percent, Token, TradeType, WETH9 } = require('@uniswap/sdk-core')
const { Pair, Route: RouteV2 } = require('@uniswap/v2-sdk')
const { Pool: PoolV3, Route: RouteV3, TICK_SPACINGS, TickMath, encodeSqrtRatioX96, nearestUsableTick } = require('@uniswap/v3-sdk')
const { Pool: PoolV4, Route: RouteV4 } = require('@uniswap/v4-sdk')
const { answer } = require('./ask.cjs')

const version = ur.UniversalRouterVersion.V2_1_2
const account = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const feeTo = '0x90F79bf6EB2c4f870365E785982E1f101E93b906'
const deadline = 1800000000
const zero = '0x0000000000000000000000000000000000000000'

const usdc = new Token(1, '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48', 6, 'USDC')
const dai = new Token(1, '0x6B175474E89094C44Da98b954EedeAC495271d0F', 18, 'DAI')
const weth = WETH9[1]
const eth = Ether.onChain(1)

// Pools at a price of one, deep enough for all that is asked here.
const liquidity = JSBI.exponentiate(JSBI.BigInt(10), JSBI.BigInt(24))
const ticks = spacing => [
  { index: nearestUsableTick(TickMath.MIN_TICK, spacing), liquidityNet: liquidity, liquidityGross: liquidity },
  { index: nearestUsableTick(TickMath.MAX_TICK, spacing), liquidityNet: JSBI.unaryMinus(liquidity), liquidityGross: liquidity },
]
const v2 = (a, b) => new Pair(CurrencyAmount.fromRawAmount(a, '1000000000000000000000000'), CurrencyAmount.fromRawAmount(b, '1000000000000000000000000'))
const v3 = (a, b, fee = 500) => new PoolV3(a, b, fee, encodeSqrtRatioX96(1, 1), liquidity, 0, ticks(TICK_SPACINGS[fee]))
const v4 = (a, b, hooks = zero) => new PoolV4(a, b, 500, 10, hooks, encodeSqrtRatioX96(1, 1), liquidity.toString(), 0, ticks(10))

// A route's amounts are parts of a thousand of the whole.
const route = (part, ...pools) => ({ part, pools })
const kindOf = pools => {
  const kinds = new Set(pools.map(p => (p instanceof Pair ? 'v2' : p instanceof PoolV3 ? 'v3' : 'v4')))
  return kinds.size > 1 ? 'mixed' : [...kinds][0]
}
const builders = {
  v2: ['v2Routes', 'routev2', RouteV2], v3: ['v3Routes', 'routev3', RouteV3],
  v4: ['v4Routes', 'routev4', RouteV4], mixed: ['mixedRoutes', 'mixedRoute', MixedRouteSDK],
}

// [name, in, out, fee in hundredths of a basis point, routes, more]. How Go is to take it
// is the last word: read, refused, or, of what not every version of it reads, either.
const one = [route(1000, v3(usdc, weth))]
const split = [route(600, v3(usdc, weth)), route(400, v2(usdc, weth))]
const three = [route(500, v3(usdc, weth)), route(300, v3(usdc, weth, 3000)), route(200, v2(usdc, weth))]
const thirdHook = '0x0000000000000000000000000000000000000080' // a bit of its address: called before a swap
const forms = [
  ['V3 over one pool', usdc, weth, 0, one, 'read'],
  ['V3 over one pool, fee', usdc, weth, 2000, one, 'read'],
  ['V3 over two pools', usdc, weth, 0, [route(1000, v3(usdc, dai, 100), v3(dai, weth))], 'read'],
  ['V3, native out', usdc, eth, 0, one, 'read'],
  ['V3, native out, fee', usdc, eth, 2000, one, 'read'],
  ['V3, native in', eth, usdc, 0, one, 'read'],
  ['V3, native in, fee', eth, usdc, 2000, one, 'read'],
  ['V2 over one pool', usdc, weth, 0, [route(1000, v2(usdc, weth))], 'read'],
  ['V2 over two pools to the account', usdc, weth, 0, [route(1000, v2(usdc, dai), v2(dai, weth))], 'refused'],
  ['V2 over two pools, fee', usdc, weth, 2000, [route(1000, v2(usdc, dai), v2(dai, weth))], 'read'],
  ['V2 over two pools, native out', usdc, eth, 0, [route(1000, v2(usdc, dai), v2(dai, weth))], 'read'],
  ['V2, native in, fee', eth, usdc, 2000, [route(1000, v2(usdc, weth))], 'read'],
  ['split over V2 and V3', usdc, weth, 0, split, 'read'],
  ['split over V2 and V3, fee', usdc, weth, 2000, split, 'read'],
  ['split over V2 and V3, native out, fee', usdc, eth, 2000, split, 'read'],
  ['split over V2 and V3, native in, fee', eth, usdc, 2000, split, 'read'],
  ['split over three, swept', usdc, weth, 0, three, 'read'],
  ['V2 then V3', usdc, weth, 0, [route(1000, v2(usdc, dai), v3(dai, weth))], 'read'],
  ['V2 then V3, native out, fee', usdc, eth, 2000, [route(1000, v2(usdc, dai), v3(dai, weth))], 'read'],
  ['V3 then V2, fee', usdc, weth, 2000, [route(1000, v3(usdc, dai, 100), v2(dai, weth))], 'either'],
  ['V3 then V2, and V3, fee', usdc, weth, 2000, [route(400, v3(usdc, dai, 100), v2(dai, weth)), route(600, v3(usdc, weth))], 'either'],
  ['V3 then V2 to the account', usdc, weth, 0, [route(1000, v3(usdc, dai, 100), v2(dai, weth))], 'refused'],
  ['a fee of 12.5 basis points', usdc, weth, 1250, one, 'refused'],
  ['V3, exact output', usdc, weth, 0, one, 'refused', TradeType.EXACT_OUTPUT],
  ['V2, exact output, native in', eth, usdc, 0, [route(1000, v2(usdc, weth))], 'refused', TradeType.EXACT_OUTPUT],
  ['V4 over one pool', usdc, dai, 0, [route(1000, v4(usdc, dai))], 'either'],
  ['V4 over one pool, fee', usdc, dai, 2000, [route(1000, v4(usdc, dai))], 'either'],
  ['V4 over two pools', usdc, weth, 0, [route(1000, v4(usdc, dai), v4(dai, weth))], 'either'],
  ['V4, native in', eth, usdc, 0, [route(1000, v4(eth, usdc))], 'either'],
  ['V4, native out, fee', usdc, eth, 2000, [route(1000, v4(usdc, eth))], 'either'],
  ['V4 with a hook, fee', usdc, dai, 2000, [route(1000, v4(usdc, dai, thirdHook))], 'either'],
  ['V4 and V3, fee', usdc, weth, 2000, [route(500, v4(usdc, weth)), route(500, v3(usdc, weth))], 'either'],
  ['V4, exact output', usdc, dai, 0, [route(1000, v4(usdc, dai))], 'refused', TradeType.EXACT_OUTPUT],
]

const amount = 1_000_000_000n
const rate = 990n // a thousand in brings so many out

function make([name, input, output, fee, routes, want, type = TradeType.EXACT_INPUT]) {
  const lists = { v2Routes: [], v3Routes: [], v4Routes: [], mixedRoutes: [] }
  for (const { part, pools } of routes) {
    const [list, member, Route] = builders[kindOf(pools)]
    const units = (amount * BigInt(part)) / 1000n
    lists[list].push({
      [member]: new Route(pools, input, output),
      inputAmount: CurrencyAmount.fromRawAmount(input, units.toString()),
      outputAmount: CurrencyAmount.fromRawAmount(output, ((units * rate) / 1000n).toString()),
    })
  }
  const options = { slippageTolerance: new Percent(50, 10000), recipient: account, deadlineOrPreviousBlockhash: deadline, urVersion: version }
  const router = ur.UNIVERSAL_ROUTER_ADDRESS(version, 1)
  if (!input.isNative) {
    const details = { token: input.address, amount: amount.toString(), expiration: String(deadline + 86400), nonce: '0' }
    options.inputTokenPermit = { details, spender: router, sigDeadline: String(deadline + 600), signature: `0x${'11'.repeat(64)}1b` }
  }
  if (fee) options.fee = { fee: new Percent(fee, 1_000_000), recipient: feeTo }
  const { calldata, value } = ur.SwapRouter.swapCallParameters(new Trade({ ...lists, tradeType: type }), options)
  const address = c => (c.isNative ? zero : c.address)
  return { name, want, to: router, data: calldata, value: BigInt(value).toString(), in: address(input), out: address(output), amount, feeBps: fee / 100, says: parse({ data: calldata, account }) }
}

// parse is what the calldata does by the package's parser: what the account is sure to
// get, what is taken from it or wrapped, and the fees.
function parse({ data, account: who }) {
  const toAccount = a => [who, '0x0000000000000000000000000000000000000001'].some(x => x.toLowerCase() === a.toLowerCase())
  const says = { commands: [], floor: 0n, takes: 0n, fees: [], deadline: Number(BigInt(`0x${data.slice(10 + 128, 10 + 192)}`)) }
  for (const { commandName, params } of ur.CommandParser.parseCalldata(data, version).commands) {
    const p = Object.fromEntries(params.map(x => [x.name, x.value]))
    says.commands.push(commandName)
    if (/^V[23]_SWAP_EXACT_IN$/.test(commandName)) {
      if (toAccount(p.recipient)) says.floor += BigInt(p.amountOutMin)
      if (p.payerIsUser) says.takes += BigInt(p.amountIn)
    }
    if (commandName === 'WRAP_ETH') says.takes += BigInt(p.amountMin ?? p.amount)
    if (/^(SWEEP|UNWRAP_WETH)$/.test(commandName) && toAccount(p.recipient)) says.floor += BigInt(p.amountMin)
    if (commandName === 'PAY_PORTION') says.fees.push({ to: p.recipient, bps: BigInt(p.bips) })
    if (commandName === 'PAY_PORTION_FULL_PRECISION') says.fees.push({ to: p.recipient, bps: BigInt(p.portion) / 10n ** 14n })
    if (commandName === 'V4_SWAP') v4Says(params, says, toAccount)
  }
  return says
}

function v4Says(actions, says, toAccount) {
  const struct = a => Object.fromEntries(a.value.flatMap(x => (x.name === 'swap' ? Object.entries(x.value) : [[x.name, x.value]])))
  const all = actions.map(a => ({ name: a.name, ...struct(a) }))
  const swaps = all.filter(a => /^SWAP_EXACT_IN/.test(a.name))
  says.commands.push(...all.map(a => a.name))
  if (all.some(a => a.name === 'TAKE' && toAccount(a.recipient))) says.floor += swaps.reduce((n, a) => n + BigInt(a.amountOutMinimum), 0n)
  if (all.some(a => a.name === 'SETTLE' && (a.payerIsUser || a.currency === zero))) says.takes += swaps.reduce((n, a) => n + BigInt(a.amountIn), 0n)
}

const digest = ({ values, chain }) => {
  const d = AllowanceTransfer.getPermitData(values, PERMIT2_ADDRESS, chain)
  return utils._TypedDataEncoder.hash(d.domain, d.types, d.values)
}

answer(q => ({ made: q.make ? forms.map(make) : [], parsed: (q.parse ?? []).map(parse), digests: (q.permits ?? []).map(digest) }))
