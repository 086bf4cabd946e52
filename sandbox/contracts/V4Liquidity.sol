// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.30;

struct V4Key {
    address currency0;
    address currency1;
    uint24 fee;
    int24 tickSpacing;
    address hooks;
}

struct V4Change {
    int24 tickLower;
    int24 tickUpper;
    int256 liquidity;
    bytes32 salt;
}

interface IV4Manager {
    function initialize(V4Key calldata key, uint160 sqrtPriceX96) external returns (int24);
    function unlock(bytes calldata data) external returns (bytes memory);
    function modifyLiquidity(V4Key calldata key, V4Change calldata change, bytes calldata hookData)
        external
        returns (int256 delta, int256 fees);
    function sync(address currency) external;
    function settle() external payable returns (uint256);
    function take(address currency, address to, uint256 amount) external;
}

interface IPaid {
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// Makes pools of v4, with liquidity over the whole range out of its caller's
/// tokens, which it keeps for good.
contract V4Liquidity {
    IV4Manager private immutable manager;

    constructor(IV4Manager manager_) {
        manager = manager_;
    }

    function make(V4Key calldata key, uint160 sqrtPriceX96, uint128 liquidity) external payable {
        manager.initialize(key, sqrtPriceX96);
        manager.unlock(abi.encode(msg.sender, key, liquidity));
        payable(msg.sender).transfer(address(this).balance);
    }

    function unlockCallback(bytes calldata data) external returns (bytes memory) {
        require(msg.sender == address(manager), "V4Liquidity: not the manager");
        (address payer, V4Key memory key, uint128 liquidity) = abi.decode(data, (address, V4Key, uint128));
        int24 end = 887272 / key.tickSpacing * key.tickSpacing;
        (int256 delta,) = manager.modifyLiquidity(key, V4Change(-end, end, int256(uint256(liquidity)), 0), "");
        _pay(payer, key.currency0, uint128(-int128(delta >> 128)));
        _pay(payer, key.currency1, uint128(-int128(delta)));
        return "";
    }

    function _pay(address payer, address currency, uint256 amount) private {
        manager.sync(currency);
        if (currency == address(0)) {
            manager.settle{value: amount}();
        } else {
            IPaid(currency).transferFrom(payer, address(manager), amount);
            manager.settle();
        }
    }
}
