// @tokenflight/api from a quote to the end of its order, for each of {trips}.
import { HyperstreamApi, QuoteNotFoundError, TERMINAL_ORDER_STATUSES } from '@tokenflight/api'
import { answer } from './ask.cjs'
import { chainOf, walletOn } from './wallet.mjs'

// carryOut sends what a deposit's plan asks for, and gives the deposit's hash.
async function carryOut(plan, { wallet, node }) {
  let deposit
  for (const { type, request, deposit: isDeposit } of plan.approvals) {
    if (request.method !== 'eth_sendTransaction') continue
    const { to, data, value } = request.params[0]
    const hash = await wallet.sendTransaction({ to, data, value: BigInt(value ?? 0) })
    const { status } = await node.waitForTransactionReceipt({ hash })
    if (status !== 'success') throw new Error(`${type} ${hash} reverted`)
    if (isDeposit) deposit = hash
  }
  return deposit
}

async function trip(api, on, { from, to, input, output, amount }) {
  const { address } = on.wallet.account
  const who = { recipient: address, refundTo: address }
  const request = {
    tradeType: 'EXACT_INPUT', fromChainId: from, fromToken: input, toChainId: to, toToken: output, amount,
    fromAddress: address, slippageTolerance: 0.005, depositMethods: ['CONTRACT_CALL'], ...who,
  }
  const streamed = []
  for await (const frame of api.streamQuotes(request)) streamed.push(frame)
  const quote = await api.getQuotes(request)
  const route = quote.routes[0]
  const { quoteId } = quote
  const plan = await api.buildDeposit({ from: address, quoteId, routeId: route.routeId, depositMethod: 'CONTRACT_CALL', ...who })
  const txHash = await carryOut(plan, on)
  const { orderId } = await api.submitDeposit({ quoteId, routeId: route.routeId, txHash })
  const again = await api.submitDeposit({ quoteId, routeId: route.routeId, txHash })
  const states = []
  const order = await api.trackOrder(orderId, { intervalMs: 500, onStatus: o => states.at(-1) === o.status || states.push(o.status) })
  const listed = await api.getOrderById(address, orderId)
  return {
    routes: quote.routes.length, streamed: streamed.length, kind: plan.kind, minimum: route.quote.minAmountOut ?? route.quote.amountOut,
    txHash, orderId, again: again.orderId, states, status: order.status, terminal: [...TERMINAL_ORDER_STATUSES].includes(order.status), listed: listed?.status,
  }
}

// unknown is whether the package takes the answer for a quote that nobody made as that.
async function unknown(f) {
  try { await f() } catch (e) { return e instanceof QuoteNotFoundError }
  return false
}

answer(async ({ base, key, chains, trips }) => {
  const viem = Object.fromEntries(chains.map(c => [c.id, chainOf(c)]))
  const api = new HyperstreamApi({ baseUrl: base, timeout: 15000 })
  const done = []
  for (const t of trips) done.push(await trip(api, walletOn(viem[t.from], key), t))
  const strange = await unknown(() => api.buildDeposit({ from: '0x000000000000000000000000000000000000dEaD', quoteId: '8ce2abcc-de03-48fc-a9b0-25e96b93c2d3', routeId: 'Hyperstream' }))
  return { done, chains: (await api.getChains()).length ?? 0, tokens: (await api.getTokens({ chainIds: [trips[0].from], limit: 5 })).data?.length ?? 0, strange }
})
