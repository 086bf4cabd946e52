// A viem wallet for a chain of the sandbox; its node is all that it knows.
import { createPublicClient, createWalletClient, defineChain, http } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

export function chainOf({ id, rpc }) {
  const nativeCurrency = { name: 'coin', symbol: 'ETH', decimals: 18 }
  return defineChain({ id, name: `chain ${id}`, nativeCurrency, rpcUrls: { default: { http: [rpc] } } })
}

export function walletOn(chain, key) {
  const at = { chain, transport: http(chain.rpcUrls.default.http[0], { retryCount: 0 }), pollingInterval: 200 }
  return { wallet: createWalletClient({ account: privateKeyToAccount(key), ...at }), node: createPublicClient(at) }
}
