// permit.mjs FILE: the peer of bench's signatures. It signs the typed data in
// FILE with viem, a test key's and nothing else's, and tells how long each
// signature took. After a warm-up it writes one line about itself; then it
// answers each line N with N durations in nanoseconds.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { privateKeyToAccount } from 'viem/accounts'

const warmUp = 2000
const given = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const version = JSON.parse(readFileSync(new URL('./node_modules/viem/package.json', import.meta.url), 'utf8')).version

const account = privateKeyToAccount(given.privateKey)
const { token, amount, expiration, nonce } = given.message.details
const typed = {
  domain: given.domain,
  types: given.types,
  primaryType: given.primaryType,
  message: {
    details: { token, amount: BigInt(amount), expiration: Number(expiration), nonce: Number(nonce) },
    spender: given.message.spender,
    sigDeadline: BigInt(given.message.sigDeadline),
  },
}

let signature
async function sign(times) {
  const took = []
  for (let i = 0; i < times; i++) {
    const began = process.hrtime.bigint()
    signature = await account.signTypedData(typed)
    took.push(Number(process.hrtime.bigint() - began))
  }
  return took
}

await sign(warmUp)
console.log(JSON.stringify({ viem: version, signature }))
for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await sign(Number(line))))
}
