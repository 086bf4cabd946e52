// relay-sdk's quote and execute, from the quote to the payment, for each of {trips}.
import { convertViemChainToRelayChain, createClient } from '@relayprotocol/relay-sdk'
import { answer } from './ask.cjs'
import { chainOf, walletOn } from './wallet.mjs'

async function trip(client, chain, key, headers, { from, to, input, output, amount }) {
  const { wallet } = walletOn(chain, key)
  const { address } = wallet.account
  const quote = await client.actions.getQuote({
    chainId: from, toChainId: to, currency: input, toCurrency: output, amount, wallet, user: address, recipient: address,
    tradeType: 'EXACT_INPUT', options: { refundTo: address, slippageTolerance: '50' },
  }, undefined, headers)
  const states = []
  const done = await client.actions.execute({
    quote, wallet,
    onProgress: ({ currentStepItem: item }) => {
      const state = [item?.progressState ?? item?.status, item?.checkStatus].filter(Boolean).join(':')
      if (state && states.at(-1) !== state) states.push(state)
    },
  })
  const items = (done.data ?? done).steps.flatMap(s => s.items.map(i => ({ ...i, step: s.id, requestId: s.requestId })))
  const last = items.at(-1)
  return {
    requestId: last.requestId, minimum: quote.details.currencyOut.minimumAmount, states,
    steps: items.map(i => `${i.step} ${i.status}`), paid: (last.txHashes ?? []).filter(x => x.chainId === to).map(x => x.txHash),
  }
}

answer(async ({ base, apiKey, key, chains, trips }) => {
  const viem = Object.fromEntries(chains.map(c => [c.id, chainOf(c)]))
  const client = createClient({
    baseApiUrl: base, source: 'swapkeep.test', chains: Object.values(viem).map(c => ({ ...convertViemChainToRelayChain(c), vmType: 'evm' })),
    pollingInterval: 300, confirmationPollingInterval: 200, maxPollingAttemptsBeforeTimeout: 100,
  })
  const headers = { 'x-api-key': apiKey } // the package sends its own to Relay's hosts alone
  const done = []
  for (const t of trips) done.push(await trip(client, viem[t.from], key, headers, t))
  return done
})
