// UniswapX's own orders. {make: N, seed} makes N of either kind at random, for Go to read;
// {read: [{kind, chain, encoded, signature, at}]} reads those that Go had made.
//
// Where the package (3.1.0) differs from its own contracts, which Go's vectors follow,
// nothing is made at random: it reads V3's relative blocks into 53 bits, so of four points
// and more it reads none; it goes on below V3's minAmount; it rounds a rising V2 input
// down; and recoverCosigner of V2 puts a prefix before the hash, which no cosigner signs.
const { createHash } = require('node:crypto')
const { BigNumber, Wallet, utils, constants } = require('ethers')
const ux = require('@uniswap/uniswapx-sdk')
const { answer } = require('./ask.cjs')

const kinds = {
  Dutch_V2: { chain: 1, parse: ux.CosignedV2DutchOrder.parse, unsigned: ux.UnsignedV2DutchOrder, at: n => ({ timestamp: n }) },
  Dutch_V3: { chain: 8453, parse: ux.CosignedV3DutchOrder.parse, unsigned: ux.UnsignedV3DutchOrder, at: n => ({ currentBlock: n }) },
}

// said is all that the package says of a cosigned order.
function said(kind, chain, encoded, signature, at) {
  const k = kinds[kind]
  const order = k.parse(encoded, chain)
  const { domain, types, values } = order.permitData()
  const filler = order.info.cosignerData.exclusiveFiller
  return {
    hash: order.hash(),
    digest: utils._TypedDataEncoder.hash(domain, types, values),
    signer: order.getSigner(signature),
    cosigner: utils.recoverAddress(order.cosignatureHash(order.info.cosignerData), order.info.cosignature),
    again: order.serialize(),
    moments: at.map(n => {
      const r = order.resolve({ ...k.at(n), filler })
      return { at: n, in: r.input.amount, out: r.outputs.map(o => o.amount) }
    }),
  }
}

// A seeded source of bytes, so that a difference can be seen again.
function dice(seed) {
  let n = 0
  const bytes = () => createHash('sha256').update(`${seed} ${n++}`).digest()
  const below = max => Number(bytes().readBigUInt64BE() % BigInt(max))
  return {
    bytes, below,
    between: (least, most) => least + below(most - least + 1),
    amount: () => BigNumber.from(bytes().subarray(0, 4 + below(9))).add(10000),
    address: () => utils.getAddress(utils.hexlify(bytes().subarray(0, 20))),
  }
}

const part = (n, bps) => n.mul(bps).div(10000)

function makeV2(d, info, token, out, count) {
  const start = d.amount()
  const outputs = Array.from({ length: count }, () => {
    const n = d.amount()
    return { token: out, startAmount: n, endAmount: part(n, d.between(5000, 10000)), recipient: d.address() }
  })
  const begins = info.deadline - d.between(60, 200)
  const added = {
    decayStartTime: begins, decayEndTime: begins + d.between(1, 200), exclusiveFiller: d.address(),
    exclusivityOverrideBps: BigNumber.from(100), inputOverride: BigNumber.from(0),
    outputOverrides: outputs.map(o => (d.below(2) ? part(o.startAmount, 10010) : BigNumber.from(0))),
  }
  const order = new ux.UnsignedV2DutchOrder({ ...info, input: { token, startAmount: start, endAmount: start }, outputs }, 1)
  return { order, added, first: begins, last: added.decayEndTime }
}

function makeV3(d, info, token, out, count) {
  const zero = BigNumber.from(0)
  let block = 0
  const relativeBlocks = Array.from({ length: d.between(1, 3) }, () => (block += d.between(1, 20)))
  const start = d.amount()
  const outputs = Array.from({ length: count }, () => {
    const n = d.amount()
    const relativeAmounts = relativeBlocks.map(() => BigInt(part(n, d.between(0, 1500)).toString())).sort((a, b) => (a < b ? -1 : 1))
    return { token: out, startAmount: n, curve: { relativeBlocks, relativeAmounts }, recipient: d.address(), minAmount: part(n, 8500), adjustmentPerGweiBaseFee: zero }
  })
  const input = { token, startAmount: start, maxAmount: start, curve: { relativeBlocks, relativeAmounts: relativeBlocks.map(() => 0n) }, adjustmentPerGweiBaseFee: zero }
  const begins = d.between(1000, 2000)
  const added = {
    decayStartBlock: begins, exclusiveFiller: d.address(), exclusivityOverrideBps: BigNumber.from(25), inputOverride: zero,
    outputOverrides: outputs.map(o => (d.below(2) ? part(o.startAmount, 10010) : zero)),
  }
  const order = new ux.UnsignedV3DutchOrder({ ...info, startingBaseFee: zero, input, outputs }, 8453)
  return { order, added, first: begins, last: begins + block }
}

async function make(count, seed) {
  const d = dice(seed)
  const made = []
  for (let i = 0; i < count; i++) {
    const kind = i % 2 ? 'Dutch_V3' : 'Dutch_V2'
    const { chain } = kinds[kind]
    const swapper = new Wallet(utils.hexlify(d.bytes()))
    const cosigner = new Wallet(utils.hexlify(d.bytes()))
    const info = {
      reactor: ux.REACTOR_ADDRESS_MAPPING[chain][kind], swapper: swapper.address, nonce: BigNumber.from(d.bytes()), deadline: 1800000000 + d.below(300),
      additionalValidationContract: constants.AddressZero, additionalValidationData: '0x', cosigner: cosigner.address,
    }
    const { order, added, first, last } = (kind === 'Dutch_V3' ? makeV3 : makeV2)(d, info, d.address(), d.address(), d.between(1, 3))
    const cosignature = utils.joinSignature(cosigner._signingKey().signDigest(order.cosignatureHash(added)))
    const Cosigned = kind === 'Dutch_V3' ? ux.CosignedV3DutchOrder : ux.CosignedV2DutchOrder
    const encoded = Cosigned.fromUnsignedOrder(order, added, cosignature).serialize()
    const { domain, types, values } = order.permitData()
    const signature = await swapper._signTypedData(domain, types, values)
    const at = [first - 5, first, first + 1, d.between(first, last), d.between(first, last), last - 1, last, last + 9]
    made.push({ kind, chain, encoded, signature, swapper: swapper.address, ...said(kind, chain, encoded, signature, at) })
  }
  return made
}

answer(q => (q.read ? q.read.map(o => said(o.kind, o.chain, o.encoded, o.signature, o.at)) : make(q.make, q.seed)))
