// Writes v4.json: calldata for Universal Router 2.1.2 on Base as the vendor's own
// packages make it (@uniswap/universal-router-sdk 5.13.0, v4-sdk 2.4.0, router-sdk
// 2.11.5, sdk-core 7.19.4). Run where they are installed: node v4.mjs > v4.json
import { createRequire } from "node:module";
import { join } from "node:path";
const require = createRequire(join(process.cwd(), "package.json"));
const { SwapRouter, RoutePlanner, CommandType, UniversalRouterVersion } = require("@uniswap/universal-router-sdk");
const { Trade, MixedRouteSDK } = require("@uniswap/router-sdk");
const v3 = require("@uniswap/v3-sdk");
const { Pool, Route, V4Planner, Actions, URVersion } = require("@uniswap/v4-sdk");
const { Ether, Token, CurrencyAmount, TradeType, Percent } = require("@uniswap/sdk-core");
const { ethers } = require("ethers");

const me = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const receiver = "0x90F79bf6EB2c4f870365E785982E1f101E93b906";
const hook = "0xC6C965BD164C483E87D0B550671798E9A3602840"; // an address whose bits say: a hook of swaps
const none = "0x0000000000000000000000000000000000000000";
const usdc = new Token(8453, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", 6, "USDC");
const dai = new Token(8453, "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb", 18, "DAI");
const weth = new Token(8453, "0x4200000000000000000000000000000000000006", 18, "WETH");
const eth = Ether.onChain(8453);
const amount = "1000000000000000000", out = "2000000000", deadline = 1800000000;

const pool = (a, b, fee = 500, spacing = 10, hooks = none) =>
  new Pool(a, b, fee, spacing, hooks, "79228162514264337593543950336", "1000000000000000000000000", 0);
const terms = (from, to, floor, more = {}) => ({
  tokenIn: from.isNative ? none : from.address, tokenOut: to.isNative ? none : to.address, amount, floor, feeBps: 0, refused: "", ...more,
});

// What the vendor's router encodes for a trade of these routes.
function trade(name, from, to, routes, options = {}, more = {}) {
  const t = new Trade({
    v2Routes: [], v3Routes: [], mixedRoutes: [], tradeType: TradeType.EXACT_INPUT,
    v4Routes: routes.map(({ pools, part = 1, hops }) => ({
      routev4: new Route(pools, from, to),
      inputAmount: CurrencyAmount.fromRawAmount(from, (BigInt(amount) / BigInt(part)).toString()),
      outputAmount: CurrencyAmount.fromRawAmount(to, (BigInt(out) / BigInt(part)).toString()),
      minHopPriceX36: hops,
    })),
  });
  const { calldata, value } = SwapRouter.swapCallParameters(t, {
    slippageTolerance: new Percent(50, 10000), recipient: me, deadlineOrPreviousBlockhash: deadline,
    urVersion: UniversalRouterVersion.V2_1_2, ...options,
  });
  return { name, calldata, value, ...terms(from, to, ((BigInt(out) * 9950n) / 10000n).toString(), more) };
}

// What it encodes for one route over pools of several versions, which turns the coin's forms
// into each other on the way.
function mixed(name, from, to, pools, options = {}, more = {}) {
  const t = new Trade({
    v2Routes: [], v3Routes: [], v4Routes: [], tradeType: TradeType.EXACT_INPUT,
    mixedRoutes: [{ mixedRoute: new MixedRouteSDK(pools, from, to), inputAmount: CurrencyAmount.fromRawAmount(from, amount), outputAmount: CurrencyAmount.fromRawAmount(to, out) }],
  });
  const { calldata, value } = SwapRouter.swapCallParameters(t, {
    slippageTolerance: new Percent(50, 10000), recipient: me, deadlineOrPreviousBlockhash: deadline,
    urVersion: UniversalRouterVersion.V2_1_2, ...options,
  });
  return { name, calldata, value, ...terms(from, to, ((BigInt(out) * 9950n) / 10000n).toString(), more) };
}
const pool3 = (a, b) => new v3.Pool(a, b, 500, "79228162514264337593543950336", "1000000000000000000000000", 0);

// What its planner encodes for these actions alone.
function plan(name, from, to, actions, version = URVersion.V2_1_2, more = {}) {
  const v4 = new V4Planner();
  for (const [action, parameters] of actions) v4.addAction(Actions[action], parameters, version);
  const commands = new RoutePlanner();
  commands.addCommand(CommandType.V4_SWAP, [v4.finalize()]);
  const calldata = new ethers.utils.Interface(["function execute(bytes,bytes[],uint256)"])
    .encodeFunctionData("execute", [commands.commands, commands.inputs, deadline]);
  return { name, calldata, value: from.isNative ? ethers.utils.hexValue(BigInt(amount)) : "0x00", ...terms(from, to, out, more) };
}
const key = { currency0: dai.address, currency1: usdc.address, fee: 10000, tickSpacing: 60, hooks: hook };
const single = (bound) => ({ poolKey: key, zeroForOne: true, amountIn: amount, amountOutMinimum: out, minHopPriceX36: bound, hookData: "0x" });
const path = (bounds, amountIn = amount, hookData = "0x") => ({
  currencyIn: dai.address, amountIn, amountOutMinimum: out, minHopPriceX36: bounds,
  path: [{ intermediateCurrency: usdc.address, fee: 10000, tickSpacing: 60, hooks: hook, hookData }],
});
const whole = ["TAKE_ALL", [usdc.address, out]];
const bound = "2122043424000000000000000000000000";

const fee = { fee: { fee: new Percent(40, 10000), recipient: receiver } };
const vectors = [
  trade("a token in, one pool", dai, usdc, [{ pools: [pool(dai, usdc)] }]),
  trade("a pool with a hook, and a bound", dai, usdc, [{ pools: [pool(dai, usdc, 10000, 60, hook)], hops: [bound] }]),
  trade("over the native coin, a bound for each pool", dai, usdc, [{ pools: [pool(dai, eth), pool(eth, usdc, 3000, 60)], hops: [bound, "1"] }]),
  trade("native in", eth, usdc, [{ pools: [pool(eth, usdc)] }]),
  trade("native in, a fee", eth, usdc, [{ pools: [pool(eth, usdc)] }], fee, { feeBps: 40 }),
  trade("native in, wrapped for the pool", eth, usdc, [{ pools: [pool(weth, usdc)] }]),
  trade("native out", dai, eth, [{ pools: [pool(dai, eth)] }]),
  trade("native out, a fee", dai, eth, [{ pools: [pool(dai, eth)] }], fee, { feeBps: 40 }),
  trade("native out, unwrapped", dai, eth, [{ pools: [pool(dai, weth)] }]),
  trade("two routes", dai, usdc, [{ pools: [pool(dai, usdc)], part: 2 }, { pools: [pool(dai, eth), pool(eth, usdc)], part: 2 }]),
  trade("wrapped in, unwrapped for the pool", weth, usdc, [{ pools: [pool(eth, usdc)] }], {}, { refused: "undecodable" }),
  mixed("v4 to native, wrapped, v3", dai, usdc, [pool(dai, eth), pool3(weth, usdc)]),
  mixed("v4 to native, wrapped, v3, a fee", dai, usdc, [pool(dai, eth), pool3(weth, usdc)], fee, { feeBps: 40 }),
  mixed("v3 to wrapped, unwrapped, v4", dai, usdc, [pool3(dai, weth), pool(eth, usdc)]),
  plan("one pool, settled and taken whole", dai, usdc, [["SWAP_EXACT_IN_SINGLE", [single(0)]], ["SETTLE_ALL", [dai.address, amount]], whole]),
  plan("one pool and its bound", dai, usdc, [["SWAP_EXACT_IN_SINGLE", [single(bound)]], ["SETTLE", [dai.address, 0, true]], ["TAKE", [usdc.address, me, 0]]]),
  plan("settled ahead", dai, usdc, [["SETTLE", [dai.address, amount, true]], ["SWAP_EXACT_IN", [path([bound], 0)]], whole]),
  plan("a fee of the credit", dai, usdc,
    [["SWAP_EXACT_IN", [path([])]], ["SETTLE_ALL", [dai.address, amount]], ["TAKE_PORTION", [usdc.address, receiver, 40]], whole], URVersion.V2_1_2, { feeBps: 40 }),
  plan("data for a hook", dai, usdc, [["SWAP_EXACT_IN", [path([], amount, "0x1234")]], ["SETTLE_ALL", [dai.address, amount]], whole], URVersion.V2_1_2, { refused: "undecodable" }),
  plan("a path in the struct of router 2.0", dai, usdc, [["SWAP_EXACT_IN", [path([])]], ["SETTLE_ALL", [dai.address, amount]], whole], URVersion.V2_0, { refused: "undecodable" }),
  plan("a pool in the struct of router 2.0", dai, usdc, [["SWAP_EXACT_IN_SINGLE", [single(0)]], ["SETTLE_ALL", [dai.address, amount]], whole], URVersion.V2_0, { refused: "undecodable" }),
  plan("both at once", dai, usdc, [["SWAP_EXACT_IN_SINGLE", [single(0)]], ["SETTLE_PAIR", [dai.address, usdc.address]], whole], URVersion.V2_1_2, { refused: "undecodable" }),
  plan("whichever way it is", dai, usdc, [["SWAP_EXACT_IN_SINGLE", [single(0)]], ["CLOSE_CURRENCY", [dai.address]], whole], URVersion.V2_1_2, { refused: "undecodable" }),
];
console.log(JSON.stringify({ source: "@uniswap/universal-router-sdk 5.13.0 and v4-sdk 2.4.0, by v4.mjs", account: me, feeReceiver: receiver, vectors }, null, 1));
