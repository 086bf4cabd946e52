// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

/// A stand-in for a Velodrome Slipstream pool: it shows a price and nobody can
/// trade on it. Its slot0 has no feeProtocol, unlike Uniswap's.
contract SlipstreamPool {
    address public immutable factory;
    address public immutable token0;
    address public immutable token1;
    int24 public immutable tickSpacing;
    uint128 public immutable liquidity;
    address private immutable market;

    uint160 private sqrtPriceX96;
    int24 private tick;

    constructor(address factory_, address market_, address token0_, address token1_, int24 spacing, uint128 liquidity_, uint160 sqrtPriceX96_, int24 tick_) {
        (factory, market, token0, token1, tickSpacing, liquidity) = (factory_, market_, token0_, token1_, spacing, liquidity_);
        (sqrtPriceX96, tick) = (sqrtPriceX96_, tick_);
    }

    function slot0() external view returns (uint160, int24, uint16, uint16, uint16, bool) {
        return (sqrtPriceX96, tick, 0, 1, 1, true);
    }

    function set(uint160 sqrtPriceX96_, int24 tick_) external {
        require(msg.sender == market, "SlipstreamPool: not the market");
        (sqrtPriceX96, tick) = (sqrtPriceX96_, tick_);
    }
}

/// A stand-in for a Slipstream factory.
contract SlipstreamFactory {
    mapping(address => mapping(address => mapping(int24 => address))) public getPool;
    address[] public allPools;

    constructor(address[] memory token0, address[] memory token1, int24[] memory spacing, address[] memory pools) {
        allPools = pools;
        for (uint256 i = 0; i < pools.length; i++) {
            getPool[token0[i]][token1[i]][spacing[i]] = pools[i];
            getPool[token1[i]][token0[i]][spacing[i]] = pools[i];
        }
    }

    function allPoolsLength() external view returns (uint256) {
        return allPools.length;
    }
}
