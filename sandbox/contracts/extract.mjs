// Turns the installed packages and the Solidity files beside this one into
// {abi, bytecode} files, one a contract: node extract.mjs OUT_DIR
import { createRequire } from "node:module";
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);
const out = process.argv[2];
if (!out) {
  console.error("usage: node extract.mjs OUT_DIR");
  process.exit(2);
}

// Compiler output shipped in a package.
const artifacts = {
  WETH9: "@uniswap/v2-periphery/build/WETH9.json",
  V2Factory: "@uniswap/v2-core/build/UniswapV2Factory.json",
  V2Pair: "@uniswap/v2-core/build/UniswapV2Pair.json",
  V2Router: "@uniswap/v2-periphery/build/UniswapV2Router02.json",
  V3Factory: "@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json",
  V3Pool: "@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json",
  PositionManager:
    "@uniswap/v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json",
  QuoterV2: "@uniswap/v3-periphery/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json",
  V4Manager: "@uniswap/v4-core/out/PoolManager.sol/PoolManager.json",
  V4Quoter: "@uniswap/v4-periphery/foundry-out/V4Quoter.sol/V4Quoter.json",
  UniversalRouter: "@uniswap/universal-router/artifacts/contracts/UniversalRouter.sol/UniversalRouter.json",
};

// Contract factories of the UniswapX SDK, which carry creation code.
const factories = {
  Permit2: "Permit2",
  MockERC20: "MockERC20",
  V2DutchOrderReactor: "V2DutchOrderReactor",
  V3DutchOrderReactor: "V3DutchOrderReactor",
  OrderQuoter: "OrderQuoter",
};

function fromArtifact(path) {
  const json = JSON.parse(readFileSync(join(here, "node_modules", path), "utf8"));
  return { abi: json.abi, bytecode: json.bytecode?.object ?? json.bytecode ?? json.evm.bytecode.object };
}

function fromFactory(name) {
  const module = require(
    join(here, `node_modules/@uniswap/uniswapx-sdk/dist/cjs/src/contracts/factories/${name}__factory.js`),
  );
  const factory = module[`${name}__factory`];
  return { abi: factory.abi, bytecode: factory.bytecode };
}

function compile(files) {
  const solc = require("solc");
  const input = {
    language: "Solidity",
    sources: Object.fromEntries(files.map((f) => [f, { content: readFileSync(join(here, f), "utf8") }])),
    settings: {
      evmVersion: "cancun",
      metadata: { bytecodeHash: "none" },
      optimizer: { enabled: true, runs: 1000 },
      outputSelection: { "*": { "*": ["abi", "evm.bytecode.object"] } },
    },
  };
  const result = JSON.parse(solc.compile(JSON.stringify(input)));
  const failures = (result.errors ?? []).filter((e) => e.severity === "error");
  if (failures.length > 0) {
    throw new Error(failures.map((e) => e.formattedMessage).join("\n"));
  }
  return Object.values(result.contracts)
    .flatMap((source) => Object.entries(source))
    .filter(([, c]) => c.evm.bytecode.object !== "") // an interface has none
    .map(([name, c]) => [name, { abi: c.abi, bytecode: c.evm.bytecode.object }]);
}

const contracts = [
  ...Object.entries(artifacts).map(([name, path]) => [name, fromArtifact(path)]),
  ...Object.entries(factories).map(([name, factory]) => [name, fromFactory(factory)]),
  ...compile(readdirSync(here).filter((f) => f.endsWith(".sol"))),
];

// Written beside the target and moved there whole: a reader sees all or nothing.
const partial = `${out}.${process.pid}.tmp`;
rmSync(partial, { recursive: true, force: true });
mkdirSync(partial, { recursive: true });
for (const [name, { abi, bytecode }] of contracts) {
  const code = bytecode.startsWith("0x") ? bytecode : `0x${bytecode}`;
  if (!/^0x([0-9a-fA-F]{2})+$/.test(code)) {
    throw new Error(`${name}: no creation code, or code that needs linking`);
  }
  writeFileSync(join(partial, `${name}.json`), JSON.stringify({ abi, bytecode: code }) + "\n");
}
rmSync(out, { recursive: true, force: true });
renameSync(partial, out);
console.log(`${contracts.length} contracts in ${out}`);
