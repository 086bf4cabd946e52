// permit.mjs LIBRARY FILE TIMES: a peer of bench's signatures. It signs the typed data
// in FILE with viem or ethers, a test key's and nothing else's, and tells how long each
// signature took. After so many as a warm-up it writes one line about itself; then it
// answers each line N with N durations in nanoseconds.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const [library, file, warmUp] = process.argv.slice(2)
const given = JSON.parse(readFileSync(file, 'utf8'))
const { version } = JSON.parse(readFileSync(new URL(`./node_modules/${library}/package.json`, import.meta.url), 'utf8'))

const { domain, types, primaryType } = given
const { token, amount, expiration, nonce } = given.message.details
const message = {
  details: { token, amount: BigInt(amount), expiration: Number(expiration), nonce: Number(nonce) },
  spender: given.message.spender,
  sigDeadline: BigInt(given.message.sigDeadline),
}

// Each as its documentation has it, with an account that is made once.
const signers = {
  async viem() {
    const { privateKeyToAccount } = await import('viem/accounts')
    const account = privateKeyToAccount(given.privateKey)
    const typed = { domain, types, primaryType, message }
    return () => account.signTypedData(typed)
  },
  async ethers() {
    const { Wallet } = await import('ethers')
    const wallet = new Wallet(given.privateKey)
    return () => wallet.signTypedData(domain, types, message)
  },
}
const sign = await signers[library]()

let signature
async function signed(times) {
  const took = []
  for (let i = 0; i < times; i++) {
    const began = process.hrtime.bigint()
    signature = await sign()
    took.push(Number(process.hrtime.bigint() - began))
  }
  return took
}

await signed(Number(warmUp))
console.log(JSON.stringify({ version, signature }))
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await signed(Number(line))))
}
