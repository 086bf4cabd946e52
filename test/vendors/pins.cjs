// All that the packages know by name: {addresses: {chain: {name: address}}, tokens:
// {"chain:address": {symbol, decimals}}, hashes: {selector or topic: signature}}, in lower
// case. viem's own chains and interfaces count too.
const { dirname, join } = require('node:path')
const aave = require('@bgd-labs/aave-address-book')
const list = require('@uniswap/default-token-list')
const { PERMIT2_ADDRESS } = require('@uniswap/permit2-sdk')
const core = require('@uniswap/sdk-core')
const ur = require('@uniswap/universal-router-sdk')
const ux = require('@uniswap/uniswapx-sdk')
const contracts = require(join(dirname(require.resolve('@uniswap/uniswapx-sdk')), 'contracts')) // exported by no name
const weth9 = require('@uniswap/v3-periphery/artifacts/contracts/interfaces/external/IWETH9.sol/IWETH9.json')
const { erc20Abi, multicall3Abi, toEventSelector, toFunctionSelector } = require('viem')
const chains = require('viem/chains')
const { answer } = require('./ask.cjs')

const addresses = {}
const tokens = {}
const isAddress = x => typeof x === 'string' && /^0x[0-9a-fA-F]{40}$/.test(x)

function know(chain, name, address) {
  if (isAddress(address)) (addresses[chain] ??= {})[name] = address.toLowerCase()
}

function uniswap() {
  const deployed = (f, ...args) => { try { return f(...args) } catch { return undefined } } // they throw of chains without one
  for (const chain of core.SUPPORTED_CHAINS) {
    know(chain, 'UniversalRouter 2.1.2', deployed(ur.UNIVERSAL_ROUTER_ADDRESS, ur.UniversalRouterVersion.V2_1_2, chain))
    know(chain, 'WETH of the router', deployed(ur.WETH_ADDRESS, chain))
    know(chain, 'Permit2', PERMIT2_ADDRESS)
    know(chain, 'V2 factory', core.V2_FACTORY_ADDRESSES[chain])
    for (const [name, a] of Object.entries(core.CHAIN_TO_ADDRESSES_MAP[chain] ?? {})) know(chain, name, a)
  }
  for (const [chain, t] of Object.entries(core.WETH9)) know(chain, 'WETH9', t.address)
  for (const [chain, kinds] of Object.entries(ux.REACTOR_ADDRESS_MAPPING)) for (const [kind, a] of Object.entries(kinds)) know(chain, `reactor ${kind}`, a)
  for (const t of list.tokens) tokens[`${t.chainId}:${t.address.toLowerCase()}`] = { symbol: t.symbol, decimals: t.decimals }
}

// Aave's modules are objects in objects; what has a chain names it at its top.
function book(chain, name, value) {
  know(chain, name, value)
  if (typeof value === 'object' && value) for (const [k, v] of Object.entries(value)) book(chain, `${name}.${k}`, v)
}

uniswap()
for (const [name, module] of Object.entries(aave)) {
  if (!module.CHAIN_ID) continue
  book(module.CHAIN_ID, name, module)
  for (const [symbol, { UNDERLYING, decimals }] of Object.entries(module.ASSETS ?? {})) {
    tokens[`${module.CHAIN_ID}:${UNDERLYING.toLowerCase()}`] ??= { symbol, decimals, aave: true }
  }
}
for (const c of Object.values(chains)) {
  if (!c?.contracts) continue
  for (const name of ['multicall3', 'gasPriceOracle']) know(c.id, name, c.contracts[name]?.address)
}

const hashes = {}
function learn(abi) {
  for (const x of abi) {
    if (x.type === 'function') hashes[toFunctionSelector(x)] = x.name
    if (x.type === 'event') hashes[toEventSelector(x)] = x.name
  }
}
const json = i => JSON.parse(i.format('json'))
learn([...erc20Abi, ...multicall3Abi, ...weth9.abi, ...json(ur.SwapRouter.INTERFACE)])
for (const f of Object.values(contracts)) if (f.createInterface) learn(json(f.createInterface()))

answer(() => ({ addresses, tokens, hashes }))
